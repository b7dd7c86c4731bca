/* serve_undo - undo.* and the thresholds of safeguards. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/api/stdio/serve_priv.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/keeper/wire.h"

/* ---- rollback, redo, restore ----------------------------------------------------------------- */

void serve_undone(void *data, int result, const char *words, const struct undo_plan *plan)
{
	struct serve *s = data;
	struct request *r;

	for (r = s->open; r && !r->undoes; r = r->next)
		continue;
	if (!r) /* the session has ended */
		return;
	r->undoes = false;
	log_info("undo", "%s: %s", r->op->name, result < 0 ? words : "done");
	if (result < 0 && r->answered) {
		model_refuse(r, result, words, plan);
		return;
	}
	if (result < 0) {
		serve_respond(r, describe_undo_fault(&r->fault, result, words, plan));
		return;
	}
	model_undo_done(s, r, plan);
	r->result = describe_plan(plan, serve_flag(r, "dry_run"));
	serve_respond(r, 0);
}

static unsigned flags_of(const struct request *r)
{
	return (serve_flag(r, "force") ? UNDO_FORCE : 0u) |
	       (serve_flag(r, "keep_mine") ? UNDO_KEEP_MINE : 0u) |
	       (serve_flag(r, "merge") ? UNDO_MERGE : 0u) |
	       (serve_flag(r, "cross") ? UNDO_CROSS : 0u);
}

static int begin(struct serve *s, struct request *r, struct undo_call *call)
{
	struct err err = {0};

	if (!dirs_find(&s->dirs, serve_get(r, "directory"), &r->fault))
		return -1;
	call->flags = flags_of(r);
	if (r->answered)
		return model_undo(s, r, call);
	call->plan_only = serve_flag(r, "dry_run");
	if (engine_undo(s->engine, call, serve_undone, s, &err) < 0)
		return fault_err(&r->fault, FAULT_UNDO_BUSY, &err);
	r->undoes = true;
	return 1;
}

/* Counts the steps newer than `to`, and all steps. Returns -1 if `to` does not exist. */
static int count_newer(struct serve *s, struct request *r, int64_t to, const char *name,
		       size_t *ret, size_t *ret_all)
{
	struct journal *j = session_journal(engine_session(s->engine));
	AUTO_FREE int64_t *list = NULL;
	struct err err = {0};
	size_t n = 0, i = 0;

	if (!j || journal_ids(j, false, &list, &n, &err) < 0)
		return fault_err(&r->fault, FAULT_UNDO_FAILED, &err);
	while (i < n && list[i] != to)
		i++;
	*ret = i;
	*ret_all = n;
	if (!to || i < n)
		return 0;
	return fault_say(&r->fault, FAULT_UNDO_NO_STEP, "%s: there is no step %lld", name,
			 (long long)to);
}

/* Reads `steps` or `to`. */
static int count_steps(struct serve *s, struct request *r, size_t *ret)
{
	int64_t to = (int64_t)serve_number(r, "to");
	size_t newer, all;

	if (!serve_get(r, "to") && !serve_get(r, "steps"))
		return 0;
	if (count_newer(s, r, to, "to", &newer, &all) < 0)
		return -1;
	if (serve_get(r, "to") && !to)
		return fault_say(&r->fault, FAULT_UNDO_NO_STEP, "to: there is no step 0");
	if (serve_get(r, "to") && !newer)
		return fault_say(&r->fault, FAULT_UNDO_NOTHING, "to: it is the newest step");
	if (serve_get(r, "to"))
		*ret = newer;
	else if (all && *ret > all)
		return fault_say(&r->fault, FAULT_UNDO_NO_STEP,
				 "steps: there are %zu, and not %zu: nothing was undone", all,
				 *ret);
	return 0;
}

int op_rollback(struct serve *s, struct request *r)
{
	struct undo_call call = {.kind = UNDO_BACK, .n = (size_t)serve_number(r, "steps")};

	if (serve_get(r, "to") && serve_get(r, "steps"))
		return fault_say(&r->fault, FAULT_PROTOCOL_INVALID,
				 "steps and to: give one of them");
	if (count_steps(s, r, &call.n) < 0)
		return -1;
	return begin(s, r, &call);
}

int op_redo(struct serve *s, struct request *r)
{
	return begin(s, r, &(struct undo_call){.kind = UNDO_REDO, .n = 1});
}

/* Returns the paths, relative to the session's first working folder as in the journal; those of
 * another folder are absolute. NULL-terminated heap strings. */
static char **paths_of(struct serve *s, const struct request *r)
{
	const struct dir *p = dirs_find(&s->dirs, serve_get(r, "directory"), NULL);
	const char *first = engine_model(s->engine)->folder;
	const cJSON *list = serve_get(r, "paths"), *one;
	char **paths = xcalloc((size_t)cJSON_GetArraySize(list) + 1, sizeof(*paths));
	size_t n = 0;

	for (one = json_first(list); one; one = one->next) {
		AUTO_FREE char *whole = dir_path(p, one->valuestring);
		const char *below = path_below(whole, first);

		paths[n++] = xstrdup(below ? below : whole);
	}
	return paths;
}

int op_restore(struct serve *s, struct request *r)
{
	CLEANUP(util_free_list) char **paths = NULL;
	struct undo_call call = {.kind = UNDO_PATHS, .step = (int64_t)serve_number(r, "step")};
	size_t newer, all;

	if (!dirs_find(&s->dirs, serve_get(r, "directory"), &r->fault))
		return -1;
	if (count_newer(s, r, call.step, "step", &newer, &all) < 0)
		return -1;
	paths = paths_of(s, r);
	call.paths = (const char *const *)paths;
	return begin(s, r, &call);
}

/* ---- looking --------------------------------------------------------------------------------- */

int op_diff(struct serve *s, struct request *r)
{
	CLEANUP(util_free_list) char **paths = NULL;
	struct diff_request d = {.from = (int64_t)serve_number(r, "from"),
				 .to = (int64_t)serve_number(r, "to"),
				 .most = (size_t)serve_number(r, "most")};

	if (!dirs_find(&s->dirs, serve_get(r, "directory"), &r->fault))
		return -1;
	if (serve_get(r, "step"))
		d.from = d.to = (int64_t)serve_number(r, "step");
	paths = paths_of(s, r);
	d.paths = (const char *const *)paths;
	return describe_diff(s->engine, &d, &r->result, &r->fault);
}

int op_history(struct serve *s, struct request *r)
{
	if (!dirs_find(&s->dirs, serve_get(r, "directory"), &r->fault))
		return -1;
	return describe_history(s->engine, (size_t)serve_number(r, "limit"), &r->result, &r->fault);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static uint64_t limit(const struct request *r, const char *name)
{
	const cJSON *v = serve_get(r, name);

	return v ? (uint64_t)v->valuedouble : LIMIT_SAME;
}

/* Returns the limit with the first of two names that is given. */
static uint64_t limit_of(const struct request *r, const char *name, const char *other)
{
	return limit(r, serve_get(r, name) ? name : other);
}

int op_undo_configure(struct serve *s, struct request *r)
{
	session_limits(
		engine_session(s->engine),
		&(struct limits){
			.size = limit_of(r, "max_log_size", "max_log_size_bytes"),
			.step_size = limit_of(r, "max_step_size", "max_single_step_size_bytes"),
			.steps = limit_of(r, "max_steps", "max_step_count"),
			.deletes = LIMIT_SAME,
			.overwrites = LIMIT_SAME,
			.renames = LIMIT_SAME,
			.overwrite_bytes = LIMIT_SAME,
			.timeout_s = LIMIT_SAME,
		});
	return 0;
}

int op_safeguard_configure(struct serve *s, struct request *r)
{
	session_limits(engine_session(s->engine),
		       &(struct limits){
			       .size = LIMIT_SAME,
			       .step_size = LIMIT_SAME,
			       .steps = LIMIT_SAME,
			       .deletes = limit(r, "delete_threshold"),
			       .overwrites = limit(r, "overwrite_threshold"),
			       .renames = limit(r, "rename_threshold"),
			       .overwrite_bytes = limit(r, "overwrite_bytes"),
			       .timeout_s = limit(r, "timeout_seconds"),
		       });
	return 0;
}

int op_discard(struct serve *s, struct request *r)
{
	if (s->engine && !engine_is_over(s->engine))
		return fault_say(&r->fault, FAULT_SESSION_EXISTS,
				 "a session runs: session.stop it first");
	return s->maker->discard(s->maker->data, serve_text(r, "path", ""), &r->fault);
}
