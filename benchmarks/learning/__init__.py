"""What sessions learn, measured on whole days of work: lessons, topics and the two recalls over them."""
