/* violation - parses Seatbelt's lines in the log of a Mac, and makes events of them. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/xpc/violation.h"

#include <errno.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "core/base/json.h"

#define MAX_LINE (64u << 10)
#define MAX_NAME 32 /* bytes of a program's name that the kernel keeps */

/* Returns the next bracket as in "(123) deny" or "(123) System Policy: deny"; NULL: none. */
static const char *next_process(const char *at, const char *end)
{
	for (; at < end; at++) {
		const char *c = at + 1;

		if (*at != '(')
			continue;
		while (c < end && *c >= '0' && *c <= '9')
			c++;
		if (c > at + 1 && c - at < 11 && end - c > 6 &&
		    (strncmp(c, ") deny", 6) == 0 || strncmp(c, ") allow", 7) == 0 ||
		     strncmp(c, ") System Policy: ", 17) == 0))
			return at;
	}
	return NULL;
}

static const char *find(const char *text, size_t len, const char *what)
{
	return memmem(text, len, what, strlen(what));
}

/* Returns where the program's name begins: after "Sandbox: ", in old lines after "]): ". */
static const char *name_start(const char *line, size_t len)
{
	const char *at = find(line, len, "Sandbox: ");

	if (at)
		return at + strlen("Sandbox: ");
	at = find(line, len, "]): ");
	return at && find(line, (size_t)(at - line), "sandboxd") ? at + strlen("]): ") : NULL;
}

static unsigned duplicates(const char *line, const char *before)
{
	const char *at = find(line, (size_t)(before - line), " duplicate report");
	unsigned n = 0;

	if (!at)
		return 1;
	while (at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	for (; *at >= '0' && *at <= '9' && n < 1000000; at++)
		n = n * 10 + (unsigned)(*at - '0');
	return n ? n : 1;
}

static bool copy(char *out, size_t size, const char *from, size_t len)
{
	if (len >= size || memchr(from, '\0', len))
		return false;
	memcpy(out, from, len);
	out[len] = '\0';
	return true;
}

/* Parses the rest of a line: "deny(1) mach-lookup com.apple.x". */
static int take_rest(struct violation *v, const char *at, const char *end)
{
	size_t n;

	if (end - at > 15 && strncmp(at, "System Policy: ", 15) == 0) {
		v->system_policy = true;
		at += 15;
	}
	v->allowed = *at == 'a';
	at += strcspn(at, " (");
	if (at < end && *at == '(')
		while (at < end && *at != ' ')
			at++;
	while (at < end && *at == ' ')
		at++;
	n = 0;
	while (at + n < end && at[n] != ' ')
		n++;
	if (!n || !copy(v->operation, sizeof(v->operation), at, n))
		return -EINVAL;
	at += n + (at + n < end);
	return copy(v->target, sizeof(v->target), at, (size_t)(end - at)) ? 1 : -EINVAL;
}

/* Returns whether the name is ambiguous. The agent may name a program "a(1) deny(1) x", so that a
 * second bracket follows the first. */
static bool is_doubtful(const char *name, const char *bracket, const char *end)
{
	const char *most = end - name > MAX_NAME + 12 ? name + MAX_NAME + 12 : end;

	return bracket + 1 < most && next_process(bracket + 1, most) != NULL;
}

static int parse_text(struct violation *v, const char *line, size_t len)
{
	const char *end = line + len, *name = name_start(line, len), *bracket;

	bracket = name ? next_process(name, end) : NULL;
	if (!bracket)
		return 0;
	if (is_doubtful(name, bracket, end) || bracket == name ||
	    !copy(v->comm, sizeof(v->comm), name, (size_t)(bracket - name)))
		return -EINVAL;
	v->pid = (int)strtol(bracket + 1, NULL, 10);
	v->count = duplicates(line, name);
	return take_rest(v, strchr(bracket, ')') + 2, end);
}

static int parse_json(struct violation *v, const char *line, size_t len)
{
	cJSON *all = cJSON_ParseWithLength(line, len);
	const cJSON *text = json_get(all, "eventMessage");
	int r = 0;

	if (cJSON_IsString(text))
		r = parse_text(v, text->valuestring, strlen(text->valuestring));
	cJSON_Delete(all);
	return r;
}

int violation_parse(struct violation *ret, const char *line, size_t len)
{
	struct violation v = {.count = 1};
	AUTO_FREE char *text = NULL;
	int r;

	while (len && (line[len - 1] == '\n' || line[len - 1] == '\r'))
		len--;
	if (!len)
		return 0;
	if (len > MAX_LINE)
		return -EINVAL;
	text = xstrndup(line, len);
	len = strlen(text);
	r = *text == '{' ? parse_json(&v, text, len) : parse_text(&v, text, len);
	if (r == 1)
		*ret = v;
	return r;
}

bool violation_is_service(const struct violation *v)
{
	return strncmp(v->operation, "mach-", 5) == 0;
}

static const struct hint {
	const char *operation; /* prefix */
	const char *target;    /* NULL: any */
	const char *words;
} hints[] = {
	{"forbidden-exec-sugid", NULL,
	 "a program with the setuid bit (ps, top, sudo) was refused: in a sandbox macOS starts "
	 "none; pgrep and lsof have no such bit"},
	{"ipc-posix-shm", NULL,
	 "shared memory by name (shm_open) was refused, because its names are those of all "
	 "programs of this Mac"},
	{"mach-lookup", "com.apple.trustd.agent",
	 "a program asked macOS about a TLS certificate (com.apple.trustd.agent) and was refused; "
	 "--set xpc.allow=com.apple.trustd.agent allows it, and lets addresses that a certificate "
	 "names be fetched past the proxy"},
};

unsigned violation_hint(const struct violation *v, const char **ret)
{
	for (size_t i = 0; i < ARRAY_LEN(hints) && !v->allowed && !v->system_policy; i++)
		if (str_starts(v->operation, hints[i].operation) &&
		    (!hints[i].target || str_eq(v->target, hints[i].target))) {
			*ret = hints[i].words;
			return 1u << i;
		}
	return 0;
}
