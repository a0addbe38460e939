
/*
 * In retort-front, as its own uid without any capability.  MCP: the fixtures
 * of the newer era that ask their client: a result says what is missing, the
 * same request comes again with it.  What they remember goes with the client,
 * under a mark that only we can make.
 */

#include <stdio.h>
#include <string.h>

#include "../secret.h"
#include "mcp.h"
#include "mcp_fixture.h"
#include "native.h"


#define MCP_MARK   32
#define MCP_STATE  (MCP_MARK + 4)

#define MCP_FORM(key, text, field, type)                                      \
    "\"" key "\":{\"method\":\"elicitation/create\",\"params\":{\"message\":" \
    "\"" text "\",\"requestedSchema\":{\"type\":\"object\",\"properties\":{"  \
    "\"" field "\":{\"type\":\"" type "\"}},\"required\":[\"" field           \
    "\"]}}}"

#define MCP_SAMPLE(key, text)                                                 \
    "\"" key "\":{\"method\":\"sampling/createMessage\",\"params\":{"         \
    "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","        \
    "\"text\":\"" text "\"}}],\"maxTokens\":100}}"

#define MCP_ROOTS  "\"client_roots\":{\"method\":\"roots/list\",\"params\":{}}"

#define MCP_NAME     MCP_FORM("user_name", "What is your name?", "name",      \
                              "string")
#define MCP_CONFIRM  MCP_FORM("confirm", "Please confirm", "ok", "boolean")


typedef struct {
    const char  *name;
    int          state;         /* it remembers */
    const char  *rounds[2];     /* what is asked, JSON */
} mcp_ask_t;


static const mcp_ask_t  mcp_asks[] = {
    { "test_input_required_result_elicitation", 0,
      { "{" MCP_NAME "}" } },
    { "test_input_required_result_sampling", 0,
      { "{" MCP_SAMPLE("capital_question", "What is the capital of France?")
        "}" } },
    { "test_input_required_result_list_roots", 0, { "{" MCP_ROOTS "}" } },
    { "test_input_required_result_request_state", 1,
      { "{" MCP_CONFIRM "}" } },
    { "test_input_required_result_tampered_state", 1,
      { "{" MCP_CONFIRM "}" } },
    { "test_input_required_result_multiple_inputs", 1,
      { "{" MCP_NAME "," MCP_SAMPLE("greeting", "Generate a greeting") ","
        MCP_ROOTS "}" } },
    { "test_input_required_result_multi_round", 1,
      { "{" MCP_FORM("step1", "Step 1: What is your name?", "name", "string")
        "}",
        "{" MCP_FORM("step2", "Step 2: What is your favorite color?", "color",
                     "string") "}" } },
    { "test_input_required_result_capabilities", 0,
      { "{" MCP_NAME "," MCP_SAMPLE("greeting", "Generate a greeting")
        "}" } },
    { "test_input_required_result_prompt", 0,
      { "{" MCP_FORM("user_context", "What context should the prompt use?",
                     "context", "string") "}" } }
};

#define MCP_ASKS  (sizeof(mcp_asks) / sizeof(mcp_asks[0]))


static void
mcp_ask_state(char state[MCP_STATE], const mcp_ask_t *ask, size_t round)
{
    char  mark[MCP_MARK + 1];

    mark[0] = '\0';
    (void) secret_hex(mark, MCP_MARK, "fixture %s %zu", ask->name, round);
    (void) snprintf(state, MCP_STATE, "%zu.%s", round, mark);
}


/* which round the client answers; -1 if its state is none of ours */

static int
mcp_ask_round(const mcp_t *m, const mcp_ask_t *ask, size_t *round)
{
    char          state[MCP_STATE];
    json_object  *v;

    *round = 0;

    if (!ask->state || !json_object_object_get_ex(m->params, "requestState",
                                                  &v))
    {
        return 0;
    }

    for ( /* void */ ; *round < 2 && ask->rounds[*round] != NULL; (*round)++) {
        mcp_ask_state(state, ask, *round);

        if (json_object_is_type(v, json_type_string)
            && strcmp(json_object_get_string(v), state) == 0)
        {
            return 0;
        }
    }

    return -1;
}


/* is there an object for everything that was asked? */

static int
mcp_ask_all(json_object *asked, json_object *said)
{
    json_object  *v;

    json_object_object_foreach(asked, key, what) {
        (void) what;

        if (!json_object_object_get_ex(said, key, &v)
            || !json_object_is_type(v, json_type_object))
        {
            return 0;
        }
    }

    return 1;
}


static int
mcp_ask_answered(const mcp_t *m, json_object *asked)
{
    json_object  *v;

    return json_object_object_get_ex(m->params, "inputResponses", &v)
           && json_object_is_type(v, json_type_object)
           && mcp_ask_all(asked, v);
}


/* only what the client says it can do, where that is what is tried */

static json_object *
mcp_ask_what(const mcp_t *m, const mcp_ask_t *ask, size_t round)
{
    json_object  *o;

    o = mcp_json(ask->rounds[round]);

    if (strcmp(ask->name, "test_input_required_result_capabilities") == 0
        && !mcp_capable(m, "elicitation"))
    {
        json_object_object_del(o, "user_name");
    }

    return o;
}


static void
mcp_ask_more(mcp_t *m, const mcp_ask_t *ask, json_object *what, size_t round)
{
    char          state[MCP_STATE];
    json_object  *o;

    o = mcp_json("{\"resultType\":\"input_required\"}");
    native_add(o, "inputRequests", what);

    if (ask->state) {
        mcp_ask_state(state, ask, round);
        native_add(o, "requestState", mcp_text(state));
    }

    mcp_result(m, o);
}


static void
mcp_ask_done(mcp_t *m)
{
    mcp_result(m, m->fixture != NULL
               ? mcp_fixture_said(mcp_json("[{\"type\":\"text\",\"text\":"
                                           "\"state-ok\"}]"), 0)
               : mcp_json("{\"messages\":[{\"role\":\"user\",\"content\":{"
                          "\"type\":\"text\",\"text\":\"state-ok\"}}]}"));
}


static void
mcp_ask_serve(mcp_t *m, const mcp_ask_t *ask)
{
    size_t        round;
    json_object  *what;

    if (mcp_ask_round(m, ask, &round) == -1) {
        (void) mcp_error(m, 200, MCP_PARAMS, "\"requestState\" is not ours",
                         NULL);
        return;
    }

    what = mcp_ask_what(m, ask, round);

    if (!mcp_ask_answered(m, what)) {
        mcp_ask_more(m, ask, what, round);
        return;
    }

    json_object_put(what);

    if (round == 0 && ask->rounds[1] != NULL) {
        mcp_ask_more(m, ask, mcp_ask_what(m, ask, 1), 1);

    } else {
        mcp_ask_done(m);
    }
}


int
mcp_fixture_asks(mcp_t *m, const char *name)
{
    size_t  i;

    for (i = 0; i < MCP_ASKS; i++) {
        if (strcmp(mcp_asks[i].name, name) == 0) {
            mcp_ask_serve(m, &mcp_asks[i]);
            return 1;
        }
    }

    return 0;
}


call_do_t
mcp_fixture_ask(mcp_t *m)
{
    (void) mcp_fixture_asks(m, m->fixture->name);

    return CALL_ANSWERED;
}
