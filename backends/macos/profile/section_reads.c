/* section_reads - reading in a profile: a deny list over all, or an allow list. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/profile/profile_priv.h"

/* Dynamic mode: trees that every program may read. */
static const char *const system_trees[] = {
	"/Applications",
	"/Library",
	"/System",
	"/bin",
	"/opt/homebrew",
	"/opt/local",
	"/private/etc",
	"/private/var/db/dyld",
	"/private/var/db/timezone",
	"/private/var/db/xcode_select_link",
	"/private/var/select",
	"/sbin",
	"/usr",
	NULL,
};

static void put_list(struct build *b, const char *const *list)
{
	for (; list && *list; list++)
		sbpl_subpath(b->s, *list);
}

static void put_usual(struct build *b)
{
	const char *const *list;
	size_t n = policy_usual(b->policy, &list);

	for (size_t i = 0; i < n; i++)
		sbpl_subpath(b->s, list[i]);
}

/* Allows names and attributes everywhere, content and programs of the listed trees only. */
static void allow_list(struct build *b)
{
	sbpl_comment(b->s, "Reads: names and attributes of all, content of what is listed");
	sbpl_allow_all(b->s, "file-read-metadata file-test-existence");
	sbpl_allow(b->s, "file-read* process-exec*");
	sbpl_literal(b->s, "/");
	if (*b->system)
		put_subpaths(b, b->system);
	else
		put_list(b, system_trees);
	put_subpaths(b, b->folders);
	put_subpaths(b, b->read_only);
	put_subpaths(b, b->temp);
	put_usual(b);
	sbpl_end(b->s);
}

void section_reads(struct build *b)
{
	if (b->spec->dynamic) {
		allow_list(b);
		return;
	}
	sbpl_comment(b->s, "Reads: all but what is taken away below");
	sbpl_allow_all(b->s, "file-read*");
	/* devices: a terminal of the user shows the user's input */
	sbpl_deny(b->s, OPS_CONTENT);
	sbpl_subpath(b->s, "/dev");
	sbpl_end(b->s);
}

void put_subpaths(struct build *b, char *const *list)
{
	for (; list && *list; list++)
		sbpl_subpath(b->s, *list);
}
