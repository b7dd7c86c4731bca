/* doctor - `cordon doctor`: tries what this machine can enforce, and says how to get the rest. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/json.h"
#include "core/config/config.h"
#include "core/keeper/watch/lock.h"
#include "core/policy/builtin/sockets.h"
#include "core/policy/policy.h"
#include "core/session/folders.h"
#include "core/session/session.h"
#include "core/session/start/spawn.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/show.h"

struct doctor_options {
	bool json;
};

static const struct flag flags[] = {
	{"--json", NULL, offsetof(struct doctor_options, json),
	 "one JSON object a line: first each probe (backend, probe, ok, needed, found, remedy), "
	 "then "
	 "each backend (backend, whole, files, hide, network, processes, undo, limits, starts), "
	 "last "
	 "sockets (socket, gives)"},
};

static const struct usage usage = {
	"doctor [--json]",
	"Test what this machine can enforce, say how to get the rest, and list the sockets that "
	"give much away. Exits 0 if at least one backend gives every guarantee, else 1.",
	flags,
	ARRAY_LEN(flags),
};

static const struct guarantee {
	uint32_t bit;
	const char *name, *words;
} guarantees[] = {
	{BACKEND_FILES, "files", "writes stay in the working folders"},
	{BACKEND_HIDE, "hide", "hidden paths do not exist inside"},
	{BACKEND_NET, "network", "the network is shut"},
	{BACKEND_PIDS, "processes", "other processes are invisible"},
	{BACKEND_UNDO, "undo", "every change can be undone"},
	{BACKEND_LIMITS, "limits", "limits hold for the whole tree of processes"},
};

/* Returns whether a back end lacks nothing. An incomplete one is chosen only by its name. */
static bool starts(const struct probe_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].needed && !r->list[i].ok)
			return false;
	return true;
}

static bool is_whole(const struct probe_report *r, uint32_t bits)
{
	return starts(r) && (bits & BACKEND_REQUIRED) == BACKEND_REQUIRED;
}

/* ---- the user's own files -------------------------------------------------------------------- */

struct own {
	char *home, *state;    /* NULL: there is no home */
	struct config *config; /* the user's settings, without a folder's; NULL: unreadable */
	struct err err;	       /* why no session starts with them; code 0: it does */
};

static void own_done(struct own *own)
{
	config_free(own->config);
	free(own->state);
	free(own->home);
}

/* Checks the settings as a session does that starts in no folder yet. */
static int own_check(const struct own *own, struct err *err)
{
	static const char *const no_folders[] = {NULL};
	const struct config *c = own->config;
	const struct policy_spec rules = {.config = c, .home = own->home, .folders = no_folders};
	struct policy *policy = NULL;
	struct lock *lock = NULL;
	int r = policy_new(&policy, &rules, err);

	policy_free(policy);
	if (r == 0 && !backend_find(config_str(c, "sandbox.backend"), err))
		r = -EINVAL;
	if (r == 0 && str_eq(config_str(c, "undo.external"), "lock"))
		r = lock_start(&lock, no_folders, err);
	lock_stop(lock);
	return r;
}

static void own_load(struct own *own)
{
	struct config_spec spec = {.config_home = getenv("XDG_CONFIG_HOME")};

	if (folders_home(&own->home, &own->err) < 0)
		return;
	own->state = folders_state_dir(own->home);
	spec.home = own->home;
	spec.state_dir = own->state;
	if (config_load(&own->config, &spec, &own->err) < 0)
		own->config = NULL;
	else if (own_check(own, &own->err) == 0)
		own->err = (struct err){0};
}

/* Returns the nearest existing directory above path: the first session makes the rest. Heap. */
static char *existing(const char *path)
{
	char *at = xstrdup(path);

	while (access(at, F_OK) < 0 && at[1]) {
		char *slash = strrchr(at, '/');

		slash[slash == at] = '\0';
	}
	return at;
}

/* Returns 0 if a session can make its files below dir, or a negative errno. */
static int try_state(const char *dir)
{
	AUTO_FREE char *inside = xasprintf("%s/.", dir); /* ENOTDIR for a file */
	struct statvfs fs;

	if (access(inside, W_OK | X_OK) < 0 || statvfs(dir, &fs) < 0)
		return -errno;
	/* A file system without a limit has no blocks, or no inodes. */
	if ((fs.f_blocks && (geteuid() ? fs.f_bavail : fs.f_bfree) == 0) ||
	    (fs.f_files && !fs.f_ffree))
		return -ENOSPC;
	return 0;
}

/* Adds the faults of the user's own files that keep each session from its start. */
static void probe_own(const struct own *own, const struct backend *be, struct probe_report *r)
{
	AUTO_FREE char *dir = own->state ? existing(own->state) : NULL;
	const char *top = own->home ? folders_private(own->home) : NULL;
	int e = dir ? try_state(dir) : 0;

	if (own->err.code)
		probe_add(r, own->home ? "settings" : "home", true, false, own->err.text, "");
	if (top && !str_eq(be->name, "landlock")) {
		AUTO_FREE char *found =
			xasprintf("%s: inside, %s is another directory", own->home, top);

		probe_add(r, "home", true, false, found, "set HOME to a directory elsewhere");
	}
	if (e < 0) {
		AUTO_FREE char *found = xasprintf("%s: %s", dir, strerror(-e));

		probe_add(r, "state directory", true, false, found,
			  "set XDG_STATE_HOME to a directory that you can write");
	}
}

/* ---- directories of tools -------------------------------------------------------------------- */

static bool has_failed(const struct probe_report *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->list[i].name, name))
			return !r->list[i].ok;
	return false;
}

static bool is_dynamic(const struct config *config)
{
	return str_eq(config_str(config, "sandbox.mode"), "dynamic");
}

/* Applies sandbox.landlock=off to the report. Returns the bits that are left. */
static uint32_t without_landlock(const struct own *own, struct probe_report *r, uint32_t bits)
{
	struct probe *landlock = NULL;

	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->list[i].name, "Landlock"))
			landlock = &r->list[i];
	if (!landlock || !own->config || config_bool(own->config, "sandbox.landlock"))
		return bits;
	landlock->ok = landlock->needed = false; /* whether a session starts: probe_wanted() */
	snprintf(landlock->found, sizeof(landlock->found),
		 "switched off in your settings (sandbox.landlock)");
	snprintf(landlock->remedy, sizeof(landlock->remedy),
		 "set sandbox.landlock to true for the whole protection");
	return bits & ~(uint32_t)BACKEND_FILES;
}

/* Adds the refusal of settings that this host does not support, in the words of cordon run. */
static void probe_wanted(const struct backend *be, const struct spawn_spec *wanted,
			 struct probe_report *r)
{
	struct err err = {0};

	/* Only the trial has mounted the gate, without which these settings do not start. */
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->list[i].name, "read gate (FUSE)") && wanted->dynamic &&
		    (wanted->read_gate == READ_GATE_FUSE || wanted->landlock_off))
			r->list[i].needed = true;
	if (be->check && be->check(wanted, &err) < 0)
		probe_add(r, "settings", true, false, err.text, "");
}

/* Adds how tools find their caches (core/session/start/homes.h) in a session without options. */
static void probe_homes(const struct backend *be, const struct config *config, const char *state,
			struct probe_report *r)
{
	const struct session_spec spec = {.config = config, .dynamic = is_dynamic(config)};
	AUTO_FREE char *dir = existing(state);
	unsigned can = be->homes ? be->homes(dir, &spec) : 0;
	const char *name = "homes of tools";

	if (!be->homes)
		probe_add(r, name, false, false,
			  "caches begin empty in $CORDON_CACHE, where variables lead",
			  "only --backend native shows those of your home");
	else if (!(can & HOMES_OVERLAYS))
		probe_add(r, name, false, false,
			  "caches begin empty in $CORDON_CACHE, where variables lead: the file "
			  "system of the state directory takes no overlays",
			  "set XDG_STATE_HOME to a directory on ext4, XFS or Btrfs, or, from Linux "
			  "6.6 on, tmpfs");
	else if (has_failed(r, "overlays"))
		probe_add(r, name, false, false, "begin empty: no overlay can be mounted",
			  "see overlays");
	else
		probe_add(r, name, false, true,
			  can & HOMES_ABSENT ? "show through overlays"
					     : "show through overlays; variables lead to "
					       "$CORDON_CACHE instead of absent ones",
			  NULL);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void print_json(const struct backend *be, const struct probe_report *r, uint32_t bits)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct probe *p = &r->list[i];
		AUTO_BUF struct buf b = BUF_INIT;

		buf_fmt(&b, "{\"backend\":\"%s\"", be->name);
		json_member(&b, "probe", p->name);
		buf_fmt(&b, ",\"ok\":%s,\"needed\":%s", p->ok ? "true" : "false",
			p->needed ? "true" : "false");
		json_member(&b, "found", p->found);
		json_member(&b, "remedy", p->remedy);
		printf("%s}\n", b.data);
	}
	printf("{\"backend\":\"%s\",\"whole\":%s", be->name, is_whole(r, bits) ? "true" : "false");
	for (size_t i = 0; i < ARRAY_LEN(guarantees); i++)
		printf(",\"%s\":%s", guarantees[i].name,
		       bits & guarantees[i].bit ? "true" : "false");
	printf(",\"starts\":%s}\n", starts(r) ? "true" : "false");
}

/* ---- a table --------------------------------------------------------------------------------- */

static void print_probe(const struct probe *p, int name_width, int columns)
{
	const char *word = p->ok ? "ok" : p->needed ? "MISSING" : "without";
	enum style style = p->ok ? STYLE_GREEN : p->needed ? STYLE_RED : STYLE_YELLOW;

	printf("  %s%-7s%s  %-*s  ", style_on(style), word, style_off(), name_width, p->name);
	show_wrapped(p->found, name_width + 13, columns);
	if (!p->ok && *p->remedy) {
		printf("%*s-> ", name_width + 13, "");
		show_wrapped(p->remedy, name_width + 16, columns);
	}
}

static void print_table(const struct backend *be, const struct probe_report *r, uint32_t bits,
			const struct err *why)
{
	int columns = show_columns() ? show_columns() : 100, name_width = 0;
	bool whole = is_whole(r, bits), native = str_eq(be->name, "native"), lacks = false;

	printf("%s%s%s: %s\n", style_on(STYLE_BOLD), be->name, style_off(), be->summary);
	for (size_t i = 0; i < r->n; i++)
		name_width = MAX(name_width, (int)strlen(r->list[i].name));
	for (size_t i = 0; i < r->n; i++)
		print_probe(&r->list[i], name_width, columns);
	printf("\n");
	/* The guarantees of a back end that does not start are unknown. */
	for (size_t i = 0; i < ARRAY_LEN(guarantees) && starts(r); i++) {
		bool yes = bits & guarantees[i].bit;

		lacks |= !yes;
		printf("  %s%-7s%s  %s\n", style_on(yes ? STYLE_GREEN : STYLE_YELLOW),
		       yes ? "yes" : "no", style_off(), guarantees[i].words);
	}
	printf("%s  %s%s%s\n\n", starts(r) ? "\n" : "",
	       style_on(whole	    ? STYLE_GREEN
			: starts(r) ? STYLE_YELLOW
				    : STYLE_RED),
	       whole		 ? lacks ? "This backend gives every guarantee that cordon needs."
					 : "This backend gives every guarantee here."
	       : lacks && native ? "This backend gives less here, as your settings say."
	       : starts(r) ? "This backend gives less, and starts only when it is chosen by name."
			   : "This backend does not start here; nothing weaker is used instead.",
	       style_off());
	if (!starts(r) && why->code)
		printf("  %s\n\n", why->text);
}

/* ---- sockets --------------------------------------------------------------------------------- */

struct sockets {
	bool json;
	size_t n;
};

static void on_socket(void *data, const char *path, const char *words)
{
	struct sockets *s = data;

	if (s->json) {
		AUTO_BUF struct buf b = BUF_INIT;

		buf_ch(&b, '{');
		json_member(&b, "socket", path);
		json_member(&b, "gives", words);
		printf("%s}\n", b.data);
	} else {
		if (s->n == 0)
			printf("%sSockets of this host%s, shut inside unless a rule of kind unix "
			       "or "
			       "--allow-unix opens one:\n",
			       style_on(STYLE_BOLD), style_off());
		printf("  ");
		show_text(path, strlen(path));
		printf("\n      %s\n", words);
	}
	s->n++;
}

int cmd_doctor(int argc, char **argv, struct err *err)
{
	struct doctor_options o = {0};
	struct own own = {0};
	struct spawn_spec wanted = {0};
	bool some = false;
	int r = flags_parse(&usage, argc, argv, &o, NULL, err);

	if (r)
		return r < 0 ? CMD_FAILED : 0;
	own_load(&own);
	folders_keep_out(own.state ? own.state : "/", own.home ? own.home : "/", NULL, own.config);
	if (own.config)
		wanted = spawn_wanted(own.config);
	for (size_t i = 0; backends[i]; i++) {
		struct probe_report report = {.vm = &wanted.vm};
		struct err why = {0};
		uint32_t bits = backends[i]->probe(&report, &why);

		bits = without_landlock(&own, &report, bits);
		if (own.config && starts(&report))
			probe_wanted(backends[i], &wanted, &report);
		if (own.config && starts(&report))
			probe_homes(backends[i], own.config, own.state, &report);
		probe_own(&own, backends[i], &report);
		some |= is_whole(&report, bits);
		if (o.json)
			print_json(backends[i], &report, bits);
		else
			print_table(backends[i], &report, bits, &why);
		probe_report_done(&report);
	}
	own_done(&own);
	sockets_each(on_socket, &(struct sockets){.json = o.json});
	return finish(some ? 0 : CMD_REFUSED, err);
}
