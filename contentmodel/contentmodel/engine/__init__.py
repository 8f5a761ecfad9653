"""The engine of the adapters: tables, pipelines, losses and streams. Adapters import `contentmodel.authoring`."""
