/* proxy_host - what the proxy's process may still do on Linux. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/proxy/proxy.h"

/* Who has connected is told by the door, which performs connect(). */
extern const struct proxy_host proxy_host_linux;
