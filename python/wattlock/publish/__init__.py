"""Result sets that others can check: keys and signatures, sums of a folder, runs packed."""
