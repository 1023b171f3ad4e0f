"""Documents in, rows out: files of many formats, and a journal that survives interruption."""
