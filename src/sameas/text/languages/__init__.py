"""The languages of names, and what names of another language mean in English."""
