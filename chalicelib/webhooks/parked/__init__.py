"""What is sent again later: `redrive` puts parked messages back on SQS at a pace, `recover` sends
failed deliveries again.
"""
