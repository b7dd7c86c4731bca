/* proxy_host - confines the proxy's process on Linux. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/proxy/proxy.h"

/* The door performs connect(), so it tells which process has connected. */
extern const struct proxy_host proxy_host_linux;
