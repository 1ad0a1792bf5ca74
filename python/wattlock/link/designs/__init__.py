"""Secure links for small messages compared: octets, joules and waits of a message that is verified, under loss."""
