"""A transfer over Wi-Fi: packets asked of the air, hosts that compute, positions of a poor signal, joules."""
