
/*
 * MCP: what a model should know before it runs code here.
 */

#include "mcp.h"


const char  mcp_skill[] =
    "# Running code\n"
    "\n"
    "Code runs in a sealed sandbox: Python with the usual packages for data, "
    "and bash. There is no network.\n"
    "\n"
    "## When\n"
    "\n"
    "- Run code for everything that must be exact: arithmetic, statistics, "
    "dates, counting, parsing, conversion, plots.\n"
    "- Run it to check a claim about data before you make it.\n"
    "- Do not run code for what you can say as well without it.\n"
    "\n"
    "## Files\n"
    "\n"
    "- Look before you compute: list the files, print the first lines, the "
    "columns and the types.\n"
    "- Input and results are in the working folder; use relative names. CSV "
    "and Excel can be read, PDF cannot.\n"
    "- Variables and files stay in a sandbox: give the `sandbox_id` of a "
    "result to the next call.\n"
    "- Show a figure to see it; files that you leave come back as links.\n"
    "\n"
    "## When it fails\n"
    "\n"
    "- Read the traceback, mend its cause, and try again: at most twice.\n"
    "- A module that is missing or not allowed: use the standard library "
    "(csv, json, statistics, datetime, sqlite3) instead.\n"
    "- `CodeSandboxUnreachable`, or no capacity: do not try again at once; "
    "say that code cannot be run now.\n"
    "- A timeout: do less at once, do not repeat the same.\n"
    "\n"
    "## What you say about it\n"
    "\n"
    "- Report only what the code printed or returned. Never invent a result, "
    "a file or a figure.\n"
    "- If it did not work, say so, and say what was tried.\n";
