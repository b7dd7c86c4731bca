/* alias - the helper that adds an address to the loopback device of a Mac. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/alias/alias.h"

#include <errno.h>

#define LOOPBACK   127u
#define LIST_MAX   256
#define NET_ITSELF 0x7f000000u
#define USUAL	   0x7f000001u
#define ALL_HOSTS  0x7fffffffu

/* Parses a number below 256 without leading zeros. Returns its end, or NULL if it is invalid. */
static const char *read_byte(uint32_t *ret, const char *text)
{
	const char *at = text;
	uint32_t n = 0;

	while (*at >= '0' && *at <= '9' && at - text < 3)
		n = n * 10 + (uint32_t)(*at++ - '0');
	if (at == text || n > 255 || (*text == '0' && at - text > 1))
		return NULL;
	*ret = n;
	return at;
}

bool alias_parse(uint32_t *ret, const char *text)
{
	uint32_t address = 0, byte = 0;

	for (int i = 0; i < 4; i++) {
		text = read_byte(&byte, text);
		if (!text || *text != (i < 3 ? '.' : '\0'))
			return false;
		text++;
		address = address << 8 | byte;
	}
	if (address >> 24 != LOOPBACK || address == NET_ITSELF || address == USUAL ||
	    address == ALL_HOSTS)
		return false;
	*ret = address;
	return true;
}

static int add(const struct alias_os *os, uint32_t address)
{
	int r = os->take_up(os->data);

	if (r < 0) {
		os->say(os->data, "this program is not installed as root's, setuid", r);
		return ALIAS_NO_RIGHTS;
	}
	r = os->add(os->data, address);
	if (r == 0)
		return ALIAS_DONE;
	os->say(os->data, "add the address to lo0", r);
	return ALIAS_FAILED;
}

/* Adds the address if it is missing. Called without privileges. */
static int look_and_add(const struct alias_os *os, uint32_t address)
{
	uint32_t there[LIST_MAX];
	int n = os->list(os->data, there, LIST_MAX);

	if (n < 0) {
		os->say(os->data, "list the addresses of lo0", n);
		return ALIAS_FAILED;
	}
	for (int i = 0; i < n && i < LIST_MAX; i++)
		if (there[i] == address)
			return ALIAS_DONE;
	if (n >= ALIAS_MAX) {
		os->say(os->data, "lo0 has too many addresses", 0);
		return ALIAS_FAILED;
	}
	return add(os, address);
}

int alias_run(const struct alias_os *os, int argc, char *const *argv)
{
	int status = ALIAS_USAGE, r = os->put_aside(os->data);
	uint32_t address;

	if (r < 0) {
		os->say(os->data, "put the rights of root aside", r);
		status = ALIAS_NO_RIGHTS;
	} else if (argc != 2 || !alias_parse(&address, argv[1])) {
		os->say(os->data, "usage: cordon-loopback 127.X.Y.Z", 0);
	} else {
		status = look_and_add(os, address);
	}
	r = os->give_up(os->data);
	if (r == 0)
		return status;
	os->say(os->data, "give up the rights of root", r);
	return ALIAS_NO_RIGHTS;
}
