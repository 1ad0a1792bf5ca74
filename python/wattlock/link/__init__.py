"""What sending costs: the air of a message, hop by hop, in time, bytes and joules."""
