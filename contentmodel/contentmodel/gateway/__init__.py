"""Answer clients of any API with the models of any other: a gateway that reports every loss.

Needs `contentmodel[gateway]`.
"""

from contentmodel.extras import needs_extra

with needs_extra("gateway", "httpx2", "starlette"):
    from contentmodel.gateway.app import create_app
    from contentmodel.gateway.config import (
        ClientKey,
        ConfigError,
        Cooldown,
        GatewayConfig,
        Limits,
        Price,
        Route,
        Target,
        Upstream,
        check_config,
        config_schema,
        load_config,
        read_config,
    )
    from contentmodel.gateway.report import Attempt, Report, Reports

__all__ = [
    "Attempt",
    "ClientKey",
    "ConfigError",
    "Cooldown",
    "GatewayConfig",
    "Limits",
    "Price",
    "Report",
    "Reports",
    "Route",
    "Target",
    "Upstream",
    "check_config",
    "config_schema",
    "create_app",
    "load_config",
    "read_config",
]
