"""The only place that knows DynamoDB."""
