/* credential - messages of git's credential helpers: lines of NAME=VALUE (git-credential(1)). */
/* SPDX-License-Identifier: MIT */
#include "core/broker/credential.h"

#include <errno.h>
#include <string.h>

static bool next_line(struct span *rest, struct span *name, struct span *value)
{
	const char *end, *equals;

	if (!rest->len)
		return false;
	end = memchr(rest->data, '\n', rest->len);
	name->data = rest->data;
	name->len = end ? (size_t)(end - rest->data) : rest->len;
	*rest = (struct span){rest->data + name->len + (end != NULL),
			      rest->len - name->len - (end != NULL)};
	equals = memchr(name->data, '=', name->len);
	*value = (struct span){equals ? equals + 1 : name->data + name->len, 0};
	if (equals) {
		value->len = name->len - (size_t)(equals + 1 - name->data);
		name->len = (size_t)(equals - name->data);
	}
	return true;
}

static bool is(struct span s, const char *word)
{
	return s.len == strlen(word) && memcmp(s.data, word, s.len) == 0;
}

/* Copies a value for the user's helpers. Refuses what could end its line or control a terminal. */
static bool take(struct span value, char *out, size_t size)
{
	if (value.len >= size)
		return false;
	for (size_t i = 0; i < value.len; i++)
		if ((unsigned char)value.data[i] < ' ' || value.data[i] == 0x7f)
			return false;
	memcpy(out, value.data, value.len);
	out[value.len] = '\0';
	return true;
}

int credential_read(struct credential *ret, struct span text, const char **why)
{
	char action[16] = "", protocol[16] = "", host[NET_TARGET_TEXT] = "";
	struct span name, value;
	bool good = text.len <= CREDENTIAL_MAX;

	*ret = (struct credential){0};
	*why = "no request of git's";
	while (good && next_line(&text, &name, &value)) {
		if (is(name, "action"))
			good = take(value, action, sizeof(action));
		else if (is(name, "protocol"))
			good = take(value, protocol, sizeof(protocol));
		else if (is(name, "host"))
			good = take(value, host, sizeof(host));
		else if (is(name, "path"))
			good = take(value, ret->path, sizeof(ret->path));
		else if (is(name, "username"))
			good = take(value, ret->username, sizeof(ret->username));
	}
	if (!good)
		return -EINVAL;
	if (!str_eq(action, "get"))
		return 0;
	if (!str_eq(protocol, "https")) {
		*why = "credentials are given for https alone";
		return -EINVAL;
	}
	return net_target_parse(&ret->target, host, why) ? 1 : -EINVAL;
}

void credential_question(const struct credential *c, struct buf *out)
{
	char host[NET_TARGET_TEXT];

	net_target_format(&c->target, host);
	buf_fmt(out, "protocol=https\nhost=%s\n", host);
	if (*c->path)
		buf_fmt(out, "path=%s\n", c->path);
	if (*c->username)
		buf_fmt(out, "username=%s\n", c->username);
	buf_ch(out, '\n');
}

int credential_answer(struct span answer, struct buf *out, struct span *name, struct span *password)
{
	struct span key, value;

	*name = *password = (struct span){"", 0};
	while (next_line(&answer, &key, &value)) {
		if (is(key, "username"))
			*name = value;
		else if (is(key, "password"))
			*password = value;
	}
	if (!password->len || memchr(password->data, '\0', password->len))
		return -ENOENT;
	buf_str(out, "username=");
	buf_add(out, name->data, name->len);
	buf_str(out, "\npassword=");
	buf_add(out, password->data, password->len);
	buf_ch(out, '\n');
	return 0;
}
