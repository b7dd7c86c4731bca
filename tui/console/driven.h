/* driven - consoles on sessions that front ends drive (serve, mcp, --stdio), for cordon attach. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Lets every engine that is opened later accept consoles. */
void driven_consoles(void);
