"""A study of two ciphers whose joules are soon known: large messages, wide targets."""

STUDY = """
id = "tiny"
title = "Two ciphers, metered"
question = "What does a call cost?"
target_percent = 20.0
smallest_effect_percent = 5.0
looks = [5]

[[grid]]
cipher = ["des-cbc", "aes128-cbc"]
operation = ["encrypt"]
payload_B = [4096]
"""
