"""Other engines of the air, each in a process of its own."""
