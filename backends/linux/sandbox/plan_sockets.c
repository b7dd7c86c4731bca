/* plan_sockets - shows sockets of the host that a rule names, in directories that are not shown. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>

#include "backends/linux/sandbox/plan_priv.h"
#include "core/base/path.h"

/* Returns whether the directory is rebuilt, because it has a hidden entry, and so lacks its
 * sockets. */
static bool is_rebuilt(const struct plan *p, const char *dir)
{
	if (str_eq(dir, "/"))
		return true;
	for (size_t i = 0; i < p->n_hidden; i++)
		if (path_is_beneath(p->hidden[i], dir) &&
		    !strchr(p->hidden[i] + strlen(dir) + 1, '/'))
			return true;
	return false;
}

/* Binds the socket. Its mount point is made only in directories of the plan's own: on a gate none
 * can be made (but granted paths show), nor in a directory of the host. */
static void show(struct plan *p, const char *path)
{
	AUTO_FREE char *dir = xstrndup(path, MAX((size_t)(strrchr(path, '/') - path), (size_t)1));
	bool covered = plan_is_covered(p, path);
	struct plan_op *op;

	if (!plan_is_private(path) && !plan_is_hidden(p, path) && (covered || !is_rebuilt(p, dir)))
		return;
	op = plan_add(p, plan_is_private(path) ? PLAN_BIND_RO : PLAN_BIND, path, path);
	op->dir = false;
	op->make = !covered;
	op->optional = true; /* its server may have ended */
}

void plan_sockets(struct plan *p, const struct spawn_spec *spec, bool private)
{
	for (const char *const *s = spec->sockets; s && *s; s++)
		if (plan_is_private(*s) == private && !path_is_in(*s, spec->folders) &&
		    !path_is_in(*s, spec->read_only) && !path_is_in(*s, spec->overlays))
			show(p, *s);
}

static bool leads_to_one(const struct spawn_spec *spec, const char *path)
{
	for (const char *const *s = spec->sockets; s && *s; s++)
		if (path_is_beneath(*s, path))
			return true;
	return false;
}

void plan_socket_ways(struct plan *p, const struct spawn_spec *spec)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_probes; i++) {
		if (!p->probes[i].blank && leads_to_one(spec, p->probes[i].path))
			free(p->probes[i].path);
		else
			p->probes[kept++] = p->probes[i];
	}
	p->n_probes = kept;
}
