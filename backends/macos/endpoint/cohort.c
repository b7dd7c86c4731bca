/* cohort - the set of processes inside the sandbox, by process number, version and start. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/cohort.h"

#include "core/base/hash.h"

struct member {
	int32_t pid;
	struct es_id id; /* the first version that was inside; the start once it is known */
	UT_hash_handle hh;
};

struct cohort {
	struct member *members;
};

static struct member *find(const struct cohort *c, int32_t pid)
{
	struct member *m;

	HASH_FIND(hh, c->members, &pid, sizeof(pid), m);
	return m;
}

/* Compares versions. The system counts them for all processes, so they may wrap. */
static bool is_later(uint32_t version, uint32_t first)
{
	return (int32_t)(version - first) >= 0;
}

/* Returns whether id is a version of this process. Both have the same number. */
static bool is_same(const struct member *m, struct es_id id)
{
	if (m->id.started_us && id.started_us)
		return es_same_start(m->id, id);
	return !id.version || is_later(id.version, m->id.version);
}

struct cohort *cohort_new(void)
{
	return xcalloc(1, sizeof(struct cohort));
}

static void drop(struct cohort *c, struct member *m)
{
	HASH_DEL(c->members, m);
	free(m);
}

void cohort_free(struct cohort *c)
{
	struct member *m, *next;

	if (!c)
		return;
	HASH_ITER (hh, c->members, m, next)
		drop(c, m);
	free(c);
}

void cohort_add(struct cohort *c, struct es_id id)
{
	struct member *m = find(c, id.pid);

	if (m && is_same(m, id)) {
		if (!m->id.started_us)
			m->id.started_us = id.started_us;
		return;
	}
	if (m) {
		m->id = id;
		return;
	}
	m = xcalloc(1, sizeof(*m));
	m->pid = id.pid;
	m->id = id;
	HASH_ADD(hh, c->members, pid, sizeof(m->pid), m);
}

bool cohort_has(const struct cohort *c, struct es_id id)
{
	const struct member *m = find(c, id.pid);

	return m && is_same(m, id);
}

void cohort_remove(struct cohort *c, struct es_id id)
{
	if (cohort_has(c, id))
		drop(c, find(c, id.pid));
}

bool cohort_sees(struct cohort *c, const struct es_message *m)
{
	if (cohort_has(c, m->process))
		return true;
	if (!cohort_has(c, m->parent))
		return false;
	cohort_add(c, m->process);
	return true;
}

size_t cohort_size(const struct cohort *c)
{
	return HASH_COUNT(c->members);
}

bool cohort_trace(struct cohort *c, const struct es_table *t, int32_t pid)
{
	struct es_id line[COHORT_DEPTH];
	bool inside = false;
	struct es_kin kin;
	size_t n = 0;

	for (int32_t at = pid; !inside && at > 1 && n < COHORT_DEPTH; at = kin.parent) {
		if (!t->look(t->data, at, &kin))
			return false;
		line[n++] = kin.id;
		inside = cohort_has(c, kin.id) || (n == 1 && t->is_marked(t->data, pid));
	}
	inside = inside || n == COHORT_DEPTH;
	while (inside && n)
		cohort_add(c, line[--n]);
	return inside;
}

size_t cohort_keep(struct cohort *c, bool (*is_there)(void *data, struct es_id id), void *data)
{
	struct member *m, *next;

	HASH_ITER (hh, c->members, m, next)
		if (!is_there(data, m->id))
			drop(c, m);
	return cohort_size(c);
}
