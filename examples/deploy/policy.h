/* Runs a policy that Redoubt has exported as JSON, in C99. No dependencies.
 *     Policy policy;
 *     if (!policy_read(&policy, text)) ...           the text of the file, which may be freed
 * afterwards policy_start(&policy); action = policy_act(&policy, state, u, v);     negative: an
 * error of the list below error = policy_observe(&policy, next_state, -1, u); u and v are fresh
 * random numbers in [0, 1). policy_free gives the memory back. */
#include <stdlib.h>
#include <string.h>

enum {
  POLICY_ENDED = -1,
  POLICY_NO_START = -2,
  POLICY_OTHER_STATE = -3,
  POLICY_TERMINAL = -4,
  POLICY_NOTHING_DONE = -5,
  POLICY_IMPOSSIBLE = -6,
  POLICY_WHICH_OUTCOME = -7
};
enum {
  START_STATE,
  START_BEGIN,
  START_MEMORY,
  START_WEIGHT,
  NODE_BEGIN,
  CHOICE_BEGIN,
  CHOICE_ACTION,
  CHOICE_WEIGHT,
  OUTCOME_BEGIN,
  OUTCOME_NEXT,
  OUTCOME_NUMBER,
  MOVE_BEGIN,
  MOVE_MEMORY,
  MOVE_WEIGHT,
  PLAN_BEGIN,
  PLAN_MEMORY,
  PLAN_WEIGHT,
  POLICY_LISTS
};
static const char* const policy_keys[POLICY_LISTS] = {
    "\"start_state\":",   "\"start_begin\":",  "\"start_memory\":",   "\"start_weight\":",
    "\"node_begin\":",    "\"choice_begin\":", "\"choice_action\":",  "\"choice_weight\":",
    "\"outcome_begin\":", "\"outcome_next\":", "\"outcome_number\":", "\"move_begin\":",
    "\"move_memory\":",   "\"move_weight\":",  "\"plan_begin\":",     "\"plan_memory\":",
    "\"plan_weight\":"};

typedef struct {
  double* list[POLICY_LISTS];                       /* whole numbers up to 2^53 are exact */
  long size[POLICY_LISTS], states, horizon, stages; /* horizon < 0: infinite */
  long stage, state, memory, choice;
} Policy;

static const char* policy_find(const char* text, const char* key) {
  const char* at = strstr(text, key);
  return at ? at + strlen(key) : NULL;
}

static void policy_start(Policy* p) { p->stage = 0, p->state = -1, p->memory = 0, p->choice = -1; }

static void policy_free(Policy* p) {
  for (int k = 0; k < POLICY_LISTS; ++k) free(p->list[k]);
}

/* 1, or 0 for a text that is no policy or is cut short; then there is nothing to free. */
static int policy_read(Policy* p, const char* text) {
  memset(p, 0, sizeof *p);
  const char *states = policy_find(text, "\"states\":"), *stages = policy_find(text, "\"stages\":");
  const char* horizon = policy_find(text, "\"horizon\":");
  int good = strstr(text, "\"redoubt-policy\"") && states && stages && horizon &&
             policy_find(text, "\"action_names\":");
  for (int k = 0; good && k < POLICY_LISTS; ++k) {
    const char* at = policy_find(text, policy_keys[k]);
    if (!at || *at++ != '[') {
      good = 0;
      break;
    }
    const char* end = strchr(at, ']');
    long size = at < end; /* one more than there are commas */
    for (const char* c = at; c < end; ++c) size += *c == ',';
    p->list[k] = malloc((size ? size : 1) * sizeof(double));
    p->size[k] = size;
    if (!p->list[k] || !end) {
      good = 0;
      break;
    }
    for (long i = 0; i < size; ++i, ++at) p->list[k][i] = strtod(at, (char**)&at);
  }
  if (!good) {
    policy_free(p);
    return 0;
  }
  p->states = atol(states), p->stages = atol(stages),
  p->horizon = *horizon == 'n' ? -1 : atol(horizon);
  policy_start(p);
  return 1;
}

static long policy_at(const Policy* p, int list, long i) { return (long)p->list[list][i]; }

static long policy_drawn(const Policy* p, int weights, long first, long end, double u) {
  long drawn = first;
  for (long i = first; i < end && u >= 0; ++i) u -= p->list[weights][i], drawn = i;
  return drawn;
}

/* A list, its memory and its weights follow each other. */
static long policy_memory(const Policy* p, int begin, long entry, double u) {
  return policy_at(
      p, begin + 1,
      policy_drawn(p, begin + 2, policy_at(p, begin, entry), policy_at(p, begin, entry + 1), u));
}

/* u chooses the memory in which an episode begins, and is not looked at afterwards; v chooses the
 * action. */
static long policy_act(Policy* p, long state, double u, double v) {
  if (p->horizon >= 0 && p->stage >= p->horizon) return POLICY_ENDED;
  if (p->state < 0) {
    long entry = 0;
    while (entry < p->size[START_STATE] && policy_at(p, START_STATE, entry) != state) ++entry;
    if (entry == p->size[START_STATE]) return POLICY_NO_START;
    p->memory = policy_memory(p, START_BEGIN, entry, u), p->state = state;
  }
  if (state != p->state) return POLICY_OTHER_STATE;
  const long stage = p->stage < p->stages ? p->stage : p->stages - 1;
  const long node = policy_at(p, NODE_BEGIN, stage * p->states + state) + p->memory;
  const long first = policy_at(p, CHOICE_BEGIN, node), end = policy_at(p, CHOICE_BEGIN, node + 1);
  if (first == end) return POLICY_TERMINAL;
  p->choice = policy_drawn(p, CHOICE_WEIGHT, first, end, v);
  return policy_at(p, CHOICE_ACTION, p->choice);
}

/* outcome: -1, or its number where several outcomes lead to the state. Zero, or an error. */
static int policy_observe(Policy* p, long state, long outcome, double u) {
  long found = -1, count = 0, listed = 0, elsewhere = -1;
  if (p->choice < 0) return POLICY_NOTHING_DONE;
  for (long i = policy_at(p, OUTCOME_BEGIN, p->choice);
       i < policy_at(p, OUTCOME_BEGIN, p->choice + 1); ++i) {
    const long next = policy_at(p, OUTCOME_NEXT, i);
    if (next < 0) elsewhere = i;
    if (next != state) continue;
    listed = 1;
    if (outcome < 0 || outcome == policy_at(p, OUTCOME_NUMBER, i)) found = i, ++count;
  }
  if (count > 1) return POLICY_WHICH_OUTCOME;
  if (state < 0 || state >= p->states || (!count && (listed || elsewhere < 0)))
    return POLICY_IMPOSSIBLE;
  p->memory =
      count
          ? policy_memory(p, MOVE_BEGIN, found, u)
          : policy_memory(
                p, PLAN_BEGIN,
                policy_at(p, MOVE_MEMORY, policy_at(p, MOVE_BEGIN, elsewhere)) * p->states + state,
                u);
  ++p->stage, p->state = state, p->choice = -1;
  return 0;
}
