# A client of a skill executor, as people write one: no token, a request, and what comes back. It knows one address.
import hashlib
import json
import sys
import urllib.error
import urllib.request

BASE = sys.argv[1]


def call(method, path, body=None):
    request = urllib.request.Request(BASE + path, method=method, headers={"Accept": "*/*"})  # as httpx and curl send it
    data = None
    if body is not None:
        data = json.dumps(body).encode("utf-8")
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, data) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def digest(data):
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode("utf-8")).hexdigest()


status, root = call("GET", "/")
assert status == 200 and root["status"] == "healthy" and root["skills_loaded"] >= 1, root

status, health = call("GET", "/health")
assert status == 200 and health["status"] == "healthy" and health["registry_loaded"] and health["executor_ready"], health

status, listing = call("GET", "/skills/list?tags=text")
assert status == 200 and listing["total"] == len(listing["skills"]) == 1, listing
assert listing["skills"][0]["handler_path"] == "handler.echo", listing

status, schema = call("GET", "/skills/echo/schema")
assert status == 200 and schema["skill_name"] == "echo" and schema["input_schema"]["type"] == "object", schema

args = {"value": {"b": [1e16, 1e-7, 0.1, -0.0, 10**30], "ä😀": {}, "a": None}, "times": 2}
status, result = call("POST", "/skills/execute", {"skill": "echo", "args": args, "actor_id": "agent_001", "actor_type": "subagent"})
assert status == 200 and result["success"], result
assert result["result"] == {"values": [args["value"]] * 2}, result
provenance = result["provenance"]
assert provenance["inputs_hash"] == result["inputs_hash"] == digest(args), result
assert provenance["outputs_hash"] == result["outputs_hash"] == digest(result["result"]), result
assert provenance["actor_id"] == "agent_001" and provenance["skill_version"] == "1.0.0", provenance
assert any(entry["message"] == "echoing" for entry in result["logs"]), result["logs"]

# Failures are answers.
for body, part in (
    ({"skill": "nothing", "args": {}}, "Skill not found: nothing"),
    ({"skill": "echo", "args": {"times": 1}}, "Input validation failed"),
    ({"skill": "echo", "args": {"value": 1, "times": 0}}, "Handler execution failed"),
):
    status, result = call("POST", "/skills/execute", body)
    assert status == 200 and result["success"] is False and result["result"] is None, result
    assert part in result["provenance"]["error_message"], result
    assert result["provenance"]["skill_version"] == "unknown" and result["outputs_hash"] == "", result
    assert result["inputs_hash"] == digest(body["args"]), result

# Errors of the service have a detail.
status, error = call("GET", "/skills/nothing")
assert status == 404 and "nothing" in error["detail"], (status, error)
status, error = call("POST", "/skills/execute", {"skill": "echo"})
assert status == 422 and error["detail"][0]["loc"][0] == "body", (status, error)
status, error = call("GET", "/skills/list?safety_flag=fine")
assert status == 422 and error["detail"][0]["loc"] == ["query", "safety_flag"], (status, error)

status, result = call("POST", "/v1/skills/run", {"name": "echo", "args": {"value": "x"}})
assert status == 200 and result["success"] and result["result"] == {"values": ["x"]} and result["sandbox_violations"] == [], result
print("fine")
