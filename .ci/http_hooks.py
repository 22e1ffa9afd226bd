import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    """Make of well-formed requests some that the task takes, in little time."""
    body = case.body
    if not isinstance(body, dict):
        return
    match case.operation.definition.raw["operationId"]:
        case "ask":  # would wait for up to a minute
            wait = body.get("wait_seconds", 30)
            if isinstance(wait, (int, float)) and not isinstance(wait, bool) and 0 <= wait <= 60:
                case.body = {**body, "wait_seconds": wait / 60}
        case "enqueue":
            case.body = of_the_task(body)
        case "import" if isinstance(body.get("trials"), list):
            case.body = {**body, "trials": [of_the_task(trial) for trial in body["trials"]]}


def of_the_task(trial):
    if not isinstance(trial, dict) or not isinstance(trial.get("parameters"), dict):
        return trial
    return {**trial, "parameters": {"x": 0.5}}
