/* probe - lists of tests of this host and their results. */
/* SPDX-License-Identifier: MIT */
#include "core/session/backend.h"

void probe_add(struct probe_report *r, const char *name, bool needed, bool ok, const char *found,
	       const char *remedy)
{
	struct probe *p;

	if (!r)
		return;
	r->list = xrealloc(r->list, (r->n + 1) * sizeof(*r->list));
	p = &r->list[r->n++];
	*p = (struct probe){.ok = ok, .needed = needed};
	snprintf(p->name, sizeof(p->name), "%s", name);
	snprintf(p->found, sizeof(p->found), "%s", found ? found : "");
	snprintf(p->remedy, sizeof(p->remedy), "%s", ok || !remedy ? "" : remedy);
}

void probe_report_done(struct probe_report *r)
{
	free(r->list);
	*r = (struct probe_report){0};
}
