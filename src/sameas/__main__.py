"""``python -m sameas``: the command line."""

from sameas.cli import main

main(prog_name="sameas")
