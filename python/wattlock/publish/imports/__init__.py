"""Result files of others, read as they were printed: a module a format, and the set that each becomes."""
