import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Let an ask that is well-formed wait for a second at most: it may wait for a minute."""
    body = case.body
    if case.operation.definition.raw.get("operationId") != "ask" or not isinstance(body, dict):
        return
    wait = body.get("wait_seconds", 30)
    if isinstance(wait, (int, float)) and not isinstance(wait, bool) and 0 <= wait <= 60:
        case.body = {**body, "wait_seconds": wait / 60}
