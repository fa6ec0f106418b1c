"""``python -m sameas``: the command line."""

from sameas.cli.main import main

if __name__ == "__main__":
    main(prog_name="sameas")
