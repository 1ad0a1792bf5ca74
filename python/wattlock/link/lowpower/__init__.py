"""A message over a radio that is not 802.11, by its standard or by its card: octets, time and joules."""
