/* openssl - libssl and libcrypto, opened by the TLS process alone. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/net/openssl.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define LIBSSL		LIBSSL_OF(OPENSSL_SHLIB_VERSION)
#define LIBSSL_OF(n)	LIBSSL_NAMED(n)
#define LIBSSL_NAMED(n) "libssl.so." #n

struct openssl openssl;

static int resolve(void *lib, const char *name, void *slot, struct err *err)
{
	void *sym = dlsym(lib, name);

	if (!sym)
		return err_say(err, -ENOSYS,
			       "network.secret: %s lacks %s: install the OpenSSL that cordon was "
			       "built with (%s)",
			       LIBSSL, name, OPENSSL_VERSION_STR);
	memcpy(slot, &sym, sizeof(sym));
	return 0;
}

/* Looks up all functions by libssl's handle, which includes libcrypto. */
int openssl_open(struct err *err)
{
	void *lib = dlopen(LIBSSL, RTLD_NOW | RTLD_LOCAL);
	int r = 0;

	if (!lib)
		return err_say(err, -ENOENT, "network.secret: open OpenSSL: %s: install it",
			       dlerror());
#define X(name) r = r < 0 ? r : resolve(lib, #name, &openssl.name, err);
	OPENSSL_FUNCTIONS(X)
#undef X
	return r;
}
