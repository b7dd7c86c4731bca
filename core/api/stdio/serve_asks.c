/* serve_asks - approval.*, safeguard.confirm and review.*. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "core/api/socket/api_priv.h"
#include "core/api/stdio/serve_priv.h"

static int answer(struct serve *s, struct request *r, uint64_t id, const struct answer *a)
{
	struct err err = {0};
	int e = engine_answer(s->engine, "API client", id, a, &err);

	if (e == -ESRCH)
		return fault_err(&r->fault, FAULT_APPROVAL_UNKNOWN, &err);
	return e < 0 ? fault_err(&r->fault, FAULT_APPROVAL_IMPOSSIBLE, &err) : 0;
}

int op_approvals(struct serve *s, struct request *r)
{
	r->result = operation_approvals(engine_model(s->engine));
	return 0;
}

int op_answer(struct serve *s, struct request *r)
{
	return operation_answer(engine_session(s->engine), "API client", r->payload, &r->fault);
}

int op_confirm(struct serve *s, struct request *r)
{
	const struct model *m = engine_model(s->engine);
	struct answer a = {.allow = str_eq(serve_text(r, "action", ""), "allow"),
			   .scope = serve_flag(r, "remember") ? SCOPE_SESSION : SCOPE_ONCE};
	const struct ask *ask;
	uint64_t id = 0;

	if (sscanf(serve_text(r, "safeguard_id", ""), "sg_%" SCNu64, &id) != 1)
		id = 0;
	ask = model_ask(m, id);
	if (!ask || !ask->held)
		return fault_say(&r->fault, FAULT_APPROVAL_UNKNOWN,
				 "safeguard_id: no step is held under that name");
	return answer(s, r, id, &a);
}

static cJSON *describe_point(const struct point *p)
{
	cJSON *o = cJSON_CreateObject();
	char name[32];

	snprintf(name, sizeof(name), "%u.%u", p->round, p->number);
	cJSON_AddStringToObject(o, "point", name);
	describe_add(o, "path", p->path);
	cJSON_AddNumberToObject(o, "line", p->line);
	cJSON_AddNumberToObject(o, "step_id", (double)p->step);
	describe_add(o, "text", p->text);
	return o;
}

int op_review_list(struct serve *s, struct request *r)
{
	const struct reviewed *v = session_reviewed(engine_session(s->engine));
	cJSON *list;

	r->result = cJSON_CreateObject();
	list = cJSON_AddArrayToObject(r->result, "points");
	for (size_t i = 0; v && i < v->n_points; i++)
		if (v->points[i].round && !v->points[i].done)
			cJSON_AddItemToArray(list, describe_point(&v->points[i]));
	return 0;
}

int op_review_done(struct serve *s, struct request *r)
{
	struct err err = {0};

	if (session_point_done(engine_session(s->engine), serve_text(r, "point", ""), &err) == 0)
		return 0;
	return fault_err(&r->fault, FAULT_REVIEW_NO_POINT, &err);
}
