"""How a call is carried out: encoding, requests, retries, connections, and the drivers that wait or await."""
