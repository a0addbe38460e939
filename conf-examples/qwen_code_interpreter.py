"""Qwen-Agent's code_interpreter, run by Retort.

Import this module before an Agent is made.  RETORT_URL and RETORT_KEY, or the
members "url" and "key" of the tool's cfg, say where and who.
"""

import base64
import json
import os
import urllib.parse
import urllib.request
import uuid

from qwen_agent.tools.base import BaseTool, register_tool


@register_tool("code_interpreter", allow_overwrite=True)
class CodeInterpreter(BaseTool):
    description = ("Python code sandbox, which can be used to execute Python "
                   "code.")
    parameters = {
        "type": "object",
        "properties": {"code": {"description": "The python code.",
                                "type": "string"}},
        "required": ["code"],
    }

    def __init__(self, cfg=None):
        super().__init__(cfg)
        cfg = cfg or {}
        self.url = cfg.get("url") or os.environ.get(
            "RETORT_URL", "http://127.0.0.1:8080/qwen/code_interpreter")
        self.key = cfg.get("key") or os.environ.get("RETORT_KEY", "")
        self.timeout = cfg.get("timeout", 30)
        self.session = str(uuid.uuid4())

    @property
    def args_format(self):
        return ("Enclose the code within triple backticks (`) at the "
                "beginning and end of the code.")

    @property
    def file_access(self):
        return True

    def call(self, params, files=None, timeout=None, **kwargs):
        body = {"params": params, "session": self.session,
                "timeout": self.timeout if timeout is None else timeout,
                "files": [f for f in map(self.fetch, files or []) if f]}
        request = urllib.request.Request(
            self.url, json.dumps(body).encode(),
            {"Content-Type": "application/json",
             "Authorization": "Bearer " + self.key})
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()

    @staticmethod
    def fetch(url):
        """The file with its bytes; what cannot be had is left out."""
        try:
            name = os.path.basename(urllib.parse.unquote(
                urllib.parse.urlparse(url).path))
            source = url if "://" in url else "file://" + \
                urllib.parse.quote(os.path.abspath(url))
            with urllib.request.urlopen(source) as data:
                return {"name": name, "content_base64":
                        base64.b64encode(data.read()).decode()}
        except Exception:
            return None
