"""Amazon Bedrock behind the ports: Converse for extraction and consolidation, InvokeModel for vectors."""
