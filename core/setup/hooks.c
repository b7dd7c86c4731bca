/* hooks - edits an agent's settings through cJSON; order and other keys are kept. */
/* SPDX-License-Identifier: MIT */
#include "core/setup/hooks.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/json.h"

#define OURS "cordon hook"

#define AUTO_JSON CLEANUP(json_done)
static void json_done(cJSON **o)
{
	cJSON_Delete(*o);
}

/* Parses an object. Returns NULL on failure; err says why. */
static cJSON *parse(const char *text, struct err *err)
{
	cJSON *root;
	const char *end = NULL;
	int line = 1;

	root = cJSON_ParseWithOpts(text, &end, true);
	if (cJSON_IsObject(root))
		return root;
	for (const char *p = text; end && p < end; p++)
		line += *p == '\n';
	cJSON_Delete(root);
	err_say(err, -EINVAL,
		"line %d is not JSON (comments are not): add \"" OURS
		"\" by hand, or mend the file and run this again",
		line);
	return NULL;
}

static void print_scalar(struct buf *b, const cJSON *item)
{
	char *raw = json_print(item);

	buf_str(b, raw ? raw : "null");
	free(raw);
}

/* The layout of a settings file, which stays as it is. */
struct layout {
	const char *unit; /* of indentation; points into the text */
	size_t width;	  /* its bytes */
	bool newline;	  /* the file ends with one */
};

/* Reads the layout of a text. An empty text, or one of a single line, gets the layout that these
 * agents use. */
static struct layout layout_of(const char *text)
{
	struct layout l = {.unit = "  ", .width = 2, .newline = true};
	const char *line = text ? strchr(text, '\n') : NULL;
	size_t blanks = line ? strspn(line + 1, " \t") : 0;

	if (blanks && line[1 + blanks] == '"') {
		l.unit = line + 1;
		l.width = MIN(blanks, (size_t)16);
	}
	if (text && *text)
		l.newline = text[strlen(text) - 1] == '\n';
	return l;
}

static void new_line(struct buf *b, const struct layout *l, int depth)
{
	buf_ch(b, '\n');
	for (int i = 0; i < depth; i++)
		buf_add(b, l->unit, l->width);
}

/* Recursive, but cJSON bounds the depth. */
static void print_value(struct buf *b, const struct layout *l, const cJSON *item, int depth)
{
	bool object = cJSON_IsObject(item);

	if ((!object && !cJSON_IsArray(item)) || !item->child) {
		print_scalar(b, item);
		return;
	}
	buf_ch(b, object ? '{' : '[');
	for (const cJSON *child = item->child; child; child = child->next) {
		if (child != item->child)
			buf_ch(b, ',');
		new_line(b, l, depth + 1);
		if (object) {
			json_quote(b, child->string, strlen(child->string));
			buf_str(b, ": ");
		}
		print_value(b, l, child, depth + 1);
	}
	new_line(b, l, depth);
	buf_ch(b, object ? '}' : ']');
}

/* Prints the settings. text: the file as it was, or NULL. */
static char *print(const cJSON *root, const char *text)
{
	const struct layout l = layout_of(text);
	struct buf b = BUF_INIT;

	print_value(&b, &l, root, 0);
	if (l.newline)
		buf_ch(&b, '\n');
	return buf_take(&b);
}

static bool is_ours(const cJSON *hook)
{
	const char *command = cJSON_GetStringValue(cJSON_GetObjectItem(hook, "command"));

	return command && str_starts(command, OURS);
}

/* Returns whether one of the entry's handlers is cordon's. */
static bool has_ours(const cJSON *entry)
{
	const cJSON *hook;

	cJSON_ArrayForEach(hook, cJSON_GetObjectItem(entry, "hooks"))
	{
		if (is_ours(hook))
			return true;
	}
	return false;
}

static cJSON *make_entry(const struct setup_hook *h)
{
	cJSON *entry = cJSON_CreateObject(), *hooks, *hook = cJSON_CreateObject();

	cJSON_AddStringToObject(entry, "matcher", h->matcher);
	hooks = cJSON_AddArrayToObject(entry, "hooks");
	cJSON_AddStringToObject(hook, "type", "command");
	cJSON_AddStringToObject(hook, "command", h->command);
	cJSON_AddNumberToObject(hook, "timeout", h->timeout);
	cJSON_AddItemToArray(hooks, hook);
	return entry;
}

int hooks_merge(char **ret, const char *text, const struct setup_hook *h, struct err *err)
{
	AUTO_JSON cJSON *root = NULL;
	cJSON *hooks, *event;
	const cJSON *entry;

	*ret = NULL;
	root = text ? parse(text, err) : cJSON_CreateObject();
	if (!root)
		return -EINVAL;
	hooks = json_get(root, "hooks");
	if (!hooks)
		hooks = cJSON_AddObjectToObject(root, "hooks");
	if (!cJSON_IsObject(hooks))
		return err_say(err, -EINVAL, "\"hooks\" is no object");
	event = json_get(hooks, h->event);
	if (!event)
		event = cJSON_AddArrayToObject(hooks, h->event);
	if (!cJSON_IsArray(event))
		return err_say(err, -EINVAL, "\"hooks.%s\" is no list", h->event);
	cJSON_ArrayForEach(entry, event)
	{
		if (has_ours(entry))
			return 0;
	}
	cJSON_AddItemToArray(event, make_entry(h));
	*ret = print(root, text);
	return 0;
}

/* Removes our handlers from the entry. Returns true if it is empty afterwards. */
static bool strip_entry(cJSON *entry, bool *found)
{
	cJSON *hooks = cJSON_GetObjectItem(entry, "hooks");
	cJSON *next;

	for (cJSON *hook = cJSON_IsArray(hooks) ? hooks->child : NULL; hook; hook = next) {
		next = hook->next;
		if (!is_ours(hook))
			continue;
		cJSON_Delete(cJSON_DetachItemViaPointer(hooks, hook));
		*found = true;
	}
	return *found && cJSON_IsArray(hooks) && cJSON_GetArraySize(hooks) == 0;
}

static void strip_event(cJSON *event, bool *found)
{
	cJSON *next;

	for (cJSON *entry = cJSON_IsArray(event) ? event->child : NULL; entry; entry = next) {
		bool here = false;

		next = entry->next;
		if (strip_entry(entry, &here))
			cJSON_Delete(cJSON_DetachItemViaPointer(event, entry));
		*found = *found || here;
	}
}

int hooks_remove(char **ret, const char *text, struct err *err)
{
	AUTO_JSON cJSON *root = parse(text, err);
	cJSON *hooks, *next;
	bool found = false;

	*ret = NULL;
	if (!root)
		return -EINVAL;
	hooks = json_get(root, "hooks");
	for (cJSON *event = cJSON_IsObject(hooks) ? hooks->child : NULL; event; event = next) {
		bool here = false;

		next = event->next;
		strip_event(event, &here);
		if (here && cJSON_GetArraySize(event) == 0)
			cJSON_Delete(cJSON_DetachItemViaPointer(hooks, event));
		found = found || here;
	}
	if (!found)
		return 0;
	if (cJSON_GetArraySize(hooks) == 0)
		cJSON_DeleteItemFromObjectCaseSensitive(root, "hooks");
	*ret = print(root, text);
	return 0;
}
