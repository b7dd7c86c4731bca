/* suffix - public suffixes (libpsl) and international names (libidn2), opened when needed. */
/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "core/net/host.h"

/*
 * Linked, the two would cost every start about a millisecond, and most sessions need neither.
 * Without them nothing is granted more widely: no domain is offered, and names in other characters
 * are refused.
 */
struct psl; /* psl_ctx_t */

static struct {
	const struct psl *list;
	const char *(*registrable)(const struct psl *list, const char *domain);
	int (*to_ascii)(const char *input, char **output, int flags);
	void (*release)(void *p);
} lib;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void resolve(void *from, const char *name, void *slot)
{
	void *sym = from ? dlsym(from, name) : NULL;

	memcpy(slot, &sym, sizeof(sym));
}

static void open_once(void)
{
	void *psl = dlopen("libpsl.so.5", RTLD_NOW | RTLD_LOCAL);
	void *idn = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL);
	const struct psl *(*latest)(const char *file);

	resolve(psl, "psl_latest", &latest);
	resolve(psl, "psl_registrable_domain", &lib.registrable);
	resolve(idn, "idn2_to_ascii_8z", &lib.to_ascii);
	resolve(idn, "idn2_free", &lib.release);
	if (latest && lib.registrable)
		lib.list = latest(NULL);
}

static void open_none(void)
{
}

void net_libraries_off(void)
{
	pthread_once(&once, open_none);
}

bool net_idn_to_ascii(const char *text, char out[NET_NAME_MAX + 1])
{
	enum {
		NONTRANSITIONAL = 8 /* IDN2_NONTRANSITIONAL: as browsers do */
	};
	char *ascii = NULL;
	bool good;

	pthread_once(&once, open_once);
	if (!lib.to_ascii || !lib.release || lib.to_ascii(text, &ascii, NONTRANSITIONAL) != 0)
		return false;
	good = strlen(ascii) <= NET_NAME_MAX;
	if (good)
		memcpy(out, ascii, strlen(ascii) + 1);
	lib.release(ascii);
	return good;
}

bool net_registered_domain(const char *name, const char **ret)
{
	pthread_once(&once, open_once);
	*ret = lib.list ? lib.registrable(lib.list, name) : NULL;
	return *ret != NULL;
}
