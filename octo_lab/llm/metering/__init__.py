"""What models can do, cost and did: catalogue, prices, counts."""
