/* doctor - `cordon doctor`: what this machine can enforce, tried out, and how to get the rest. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/json.h"
#include "core/config/config.h"
#include "core/policy/sockets.h"
#include "core/session/folders.h"
#include "core/session/spawn.h"
#include "tui/commands/commands.h"
#include "tui/commands/reading.h"

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
	"Try out everything that confinement needs on this machine, and list the sockets that "
	"give\n"
	"much away. Exit status 0 when at least one backend can give every guarantee, else 1.",
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

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_text(struct buf *b, const char *name, const char *s)
{
	buf_fmt(b, ",\"%s\":", name);
	json_quote(b, s, strlen(s));
}

/* Nothing is missing that it needs. One that is not whole is never chosen but by its name. */
static bool starts(const struct probe_report *r)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].needed && !r->list[i].ok)
			return false;
	return true;
}

static void print_json(const struct backend *be, const struct probe_report *r, uint32_t bits)
{
	bool whole = (bits & BACKEND_REQUIRED) == BACKEND_REQUIRED;

	for (size_t i = 0; i < r->n; i++) {
		const struct probe *p = &r->list[i];
		AUTO_BUF struct buf b = BUF_INIT;

		buf_fmt(&b, "{\"backend\":\"%s\"", be->name);
		add_text(&b, "probe", p->name);
		buf_fmt(&b, ",\"ok\":%s,\"needed\":%s", p->ok ? "true" : "false",
			p->needed ? "true" : "false");
		add_text(&b, "found", p->found);
		add_text(&b, "remedy", p->remedy);
		printf("%s}\n", b.data);
	}
	printf("{\"backend\":\"%s\",\"whole\":%s", be->name, whole ? "true" : "false");
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
	int columns = screen_columns() ? screen_columns() : 100, name_width = 0;
	bool whole = (bits & BACKEND_REQUIRED) == BACKEND_REQUIRED, lacks = false;

	printf("%s%s%s: %s\n", style_on(STYLE_BOLD), be->name, style_off(), be->summary);
	for (size_t i = 0; i < r->n; i++)
		name_width = MAX(name_width, (int)strlen(r->list[i].name));
	for (size_t i = 0; i < r->n; i++)
		print_probe(&r->list[i], name_width, columns);
	printf("\n");
	/* What one that does not start would give is not known. */
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
	       whole	   ? lacks ? "This backend gives every guarantee that cordon needs."
				   : "This backend gives every guarantee here."
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

		buf_str(&b, "{\"socket\":");
		json_quote(&b, path, strlen(path));
		add_text(&b, "gives", words);
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

/* The human's, of no folder. NULL: they cannot be read, which every run says. */
static struct config *own_settings(void)
{
	const char *home = getenv("HOME");
	AUTO_FREE char *state = home ? folders_state_dir(home) : NULL;
	const struct config_spec spec = {
		.home = home, .config_home = getenv("XDG_CONFIG_HOME"), .state_dir = state};
	struct config *config = NULL;
	struct err ignored = {0};

	if (home && config_load(&config, &spec, &ignored) < 0)
		return NULL;
	return config;
}

int cmd_doctor(int argc, char **argv, struct err *err)
{
	struct doctor_options o = {0};
	struct strings args = {0};
	struct config *config = NULL;
	struct vm_settings vm = {0};
	bool some = false;
	int r = reading_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && args.n)
		r = err_say(err, -EINVAL, "unexpected argument '%s': usage: cordon %s",
			    args.list[0], usage.synopsis);
	strings_done(&args);
	if (r)
		return r < 0 ? CMD_FAILED : 0;
	config = own_settings();
	if (config)
		vm = spawn_vm(config);
	for (size_t i = 0; backends[i]; i++) {
		struct probe_report report = {.vm = &vm};
		struct err why = {0};
		uint32_t bits = backends[i]->probe(&report, &why);

		some |= (bits & BACKEND_REQUIRED) == BACKEND_REQUIRED;
		if (o.json)
			print_json(backends[i], &report, bits);
		else
			print_table(backends[i], &report, bits, &why);
		probe_report_done(&report);
	}
	config_free(config);
	sockets_each(on_socket, &(struct sockets){.json = o.json});
	return finish(some ? 0 : CMD_REFUSED, err);
}
