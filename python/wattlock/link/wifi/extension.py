"""The signal extension: an OFDM frame in 2.4 GHz ends with 6 us in which nobody sends, so that no radio pays for it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

# IEEE Std 802.11-2020, 18.3.2.4 (aSignalExtension); with it 802.11b's SIFS of 10 us fits, which 5 GHz does not have.
EXTENSION_ns, SIFS_ns = 6_000, 10_000
DSSS_bit_s = {1_000_000, 2_000_000, 5_500_000, 11_000_000}
# Preamble and extension, bits of SERVICE and tail, octets of a block acknowledgement (17.3.2, 9.3.1.8).
AROUND_ns, SYMBOL_ns, BITS, BLOCK_ACK_B = 26_000, 4_000, 22, 32


class Silence(NamedTuple):
    """Nanoseconds of one hop and direction in which a frame counts as on the air and nobody sends."""

    data_ns: int = 0
    rts_ns: int = 0
    answers_ns: int = 0


def silence(leg: Mapping[str, Any], resolved: Mapping[str, Any]) -> Silence:
    """What of a leg is signal extension.

    * `leg`, `resolved`: of a result of `wattlock-net air`.

    Where rates were mixed, as Minstrel does, nobody counted the OFDM frames: all of it stays sending.
    """
    if resolved["sifs_ns"] != SIFS_ns:
        return Silence()
    aggregated = resolved["ampdu_B"] > 0
    if not aggregated and not leg["acknowledgements"] and leg["data_ns"] != leg["packets"] * resolved["data_ns"]:
        return Silence()
    answered_OFDM = resolved["response_rate_bit_s"] not in DSSS_bit_s
    answer_ns = _block_ack_ns(resolved["response_rate_bit_s"]) if aggregated else resolved["response_ns"]
    # What is left of the last aggregate may go alone and be answered by an acknowledgement, which is a little shorter.
    answers = round(leg["response_ns"] / answer_ns)
    rts = answers // 2 if leg["rts_ns"] else 0
    frames = answers if aggregated else leg["sent"]
    return Silence(
        EXTENSION_ns * frames if resolved["rate_bit_s"] not in DSSS_bit_s else 0,
        EXTENSION_ns * rts if answered_OFDM else 0,
        EXTENSION_ns * answers if answered_OFDM else 0,
    )


def _block_ack_ns(rate_bit_s: int) -> int:
    bits_a_symbol = rate_bit_s * SYMBOL_ns // 1_000_000_000
    return AROUND_ns + -(-(BITS + 8 * BLOCK_ACK_B) // bits_a_symbol) * SYMBOL_ns
