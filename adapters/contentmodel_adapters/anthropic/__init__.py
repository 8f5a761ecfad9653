"""The formats of Claude: Anthropic's Messages, and Converse of Amazon Bedrock, which has other models too."""
