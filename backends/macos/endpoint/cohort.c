/* cohort - which processes are inside the sandbox, by process number and version. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/cohort.h"

#include "core/base/hash.h"

struct member {
	int32_t pid;
	uint32_t version; /* the first that was inside */
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

/* Versions are counted by the system, for all processes: they may wrap. */
static bool is_later(uint32_t version, uint32_t first)
{
	return (int32_t)(version - first) >= 0;
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

	if (m && is_later(id.version, m->version))
		return;
	if (m) {
		m->version = id.version;
		return;
	}
	m = xcalloc(1, sizeof(*m));
	m->pid = id.pid;
	m->version = id.version;
	HASH_ADD(hh, c->members, pid, sizeof(m->pid), m);
}

bool cohort_has(const struct cohort *c, struct es_id id)
{
	const struct member *m = find(c, id.pid);

	return m && is_later(id.version, m->version);
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
