"""Sets of notes of a year, written by hand and labelled: which belong together, and what a person would keep of each
subject. Four sets (`tuning-…`) were looked at while the rules were made, four (`unseen-…`) only measured."""
