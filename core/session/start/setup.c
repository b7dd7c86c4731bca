/* setup - describes what a session is about to let its agent see and do. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"
#include "core/session/start/repository.h"
#include "core/session/start/spawn.h"

/* ---- lists of paths, in one line ----------------------------------------------------------------
 */

static void add_path(struct buf *out, const char *path, const char *home)
{
	const char *below = home ? path_below(path, home) : NULL;

	if (!below)
		buf_str(out, path);
	else
		buf_fmt(out, *below ? "~/%s" : "~", below);
}

static void list_paths(struct buf *out, const char *title, const char *const *list,
		       const char *home)
{
	for (size_t i = 0; list && list[i]; i++) {
		buf_str(out, i ? ", " : title);
		add_path(out, list[i], home);
	}
	if (list && list[0])
		buf_ch(out, '\n');
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* Lists the hidden places that exist: the table is long, and few exist on one host. */
static void tell_hidden(const struct spawn_plan *p, const char *home, struct buf *out)
{
	AUTO_FREE const char **there = xcalloc(p->n_hidden + 1, sizeof(*there));
	size_t n = 0;

	for (size_t i = 0; i < p->n_hidden; i++)
		if (exists(p->hidden[i]))
			there[n++] = p->hidden[i];
	list_paths(out, "not there inside, or empty: ", there, home);
	buf_fmt(out, "%zu more places are hidden should they appear\n", p->n_hidden - n);
}

/* ---- the parts --------------------------------------------------------------------------------
 */

static void tell_run(const struct session_spec *spec, struct buf *out)
{
	const char *profile = config_profile(spec->config);

	buf_fmt(out, "backend %s, network %s\n", spec->backend->name,
		spec->allow_network ? "shared"
		: spec->ask_network ? "asked for by host"
				    : "shut");
	if (profile)
		buf_fmt(out, "profile %s\n", profile);
	for (size_t i = 0; spec->argv[i]; i++)
		buf_fmt(out, "%s%s", i ? " " : "command ", spec->argv[i]);
	buf_ch(out, '\n');
}

static void tell_places(const struct spawn_plan *p, const struct session_spec *spec,
			struct buf *out)
{
	size_t named = 0;

	for (size_t i = 0; spec->folders[i]; i++)
		buf_fmt(out, "working folder %s\n", spec->folders[i]);
	list_paths(out, "never writable: ", spec->read_only, spec->home);
	list_paths(out, "writable, changes are kept apart: ", spec->overlays, spec->home);
	while (spec->overlays && spec->overlays[named])
		named++;
	list_paths(out, "of tools, changes stay with this folder: ",
		   p->overlays ? p->overlays + named : NULL, spec->home);
	if (p->cache) {
		buf_str(out, "cache of tools: ");
		add_path(out, p->cache, spec->home);
		buf_ch(out, '\n');
	}
	list_paths(out, "sockets of this host: ", p->spec.sockets, spec->home);
}

static void tell_reading(const struct spawn_plan *p, const struct session_spec *spec,
			 struct buf *out)
{
	if (!spec->dynamic)
		buf_str(out, "readable: everything else\n");
	else
		list_paths(out, "reading asks in: ", p->spec.gated, spec->home);
	list_paths(out, "except for: ", p->spec.granted, spec->home);
	tell_hidden(p, spec->home, out);
}

static void tell_limits(const struct spawn_limits *l, struct buf *out)
{
	char size[32];
	const char *sep = "limits: ";

	text_size(size, sizeof(size), (uint64_t)MAX(l->memory, (int64_t)0));
	if (l->memory) {
		buf_fmt(out, "%s%s of memory", sep, size);
		sep = ", ";
	}
	if (l->processes) {
		buf_fmt(out, "%s%lld processes", sep, (long long)l->processes);
		sep = ", ";
	}
	if (l->open_files) {
		buf_fmt(out, "%s%lld open files", sep, (long long)l->open_files);
		sep = ", ";
	}
	if (l->cpu_seconds) {
		buf_fmt(out, "%s%lld s of processor time a process", sep,
			(long long)l->cpu_seconds);
		sep = ", ";
	}
	buf_str(out, *sep == ',' ? "\n" : "limits: none\n");
}

static void count_rules(const struct rules *r, size_t n[LEVEL_SESSION + 1], size_t *hosts)
{
	for (uint32_t i = 0; i < rules_count(r); i++) {
		const struct rule *rule = rules_at(r, i);

		if (!rule || !rule->of->name)
			continue;
		n[rule->of->level]++;
		*hosts += rule->verdict == RULE_ALLOW && (rule->kinds & 1u << RULE_CONNECT);
	}
}

static void tell_rules(const struct spawn_plan *p, const struct session_spec *spec, struct buf *out)
{
	size_t n[LEVEL_SESSION + 1] = {0}, hosts = 0;
	const struct rules *trusted, *untrusted;
	const char *sep = "rules: ";

	policy_rules(p->policy, &trusted, &untrusted);
	count_rules(trusted, n, &hosts);
	if (untrusted)
		count_rules(untrusted, n, &(size_t){0});
	for (int level = LEVEL_SESSION; level > LEVEL_BUILTIN; level--) {
		if (!n[level])
			continue;
		buf_fmt(out, "%s%zu of level %s", sep, n[level], rule_level_words[level]);
		sep = ", ";
	}
	if (*sep == ',')
		buf_str(out, "; cordon policy list shows them\n");
	if (spec->ask_network)
		buf_fmt(out, "hosts that need no question: %zu patterns\n", hosts);
}

static void tell_variables(const struct spawn_plan *p, struct buf *out)
{
	const char *sep = "variables: ";

	for (size_t i = 0; p->env && p->env[i]; i++) {
		buf_fmt(out, "%s%.*s", sep, (int)strcspn(p->env[i], "="), p->env[i]);
		sep = " ";
	}
	buf_ch(out, '\n');
}

void spawn_tell_setup(const struct spawn_plan *p, const struct session_spec *spec, struct buf *out)
{
	tell_run(spec, out);
	tell_places(p, spec, out);
	tell_reading(p, spec, out);
	tell_limits(&p->spec.limits, out);
	tell_rules(p, spec, out);
	tell_variables(p, out);
}
