/* SPDX-License-Identifier: MIT */
/* A plugin that calls back into the program that loaded it. */
volatile int visits;

void plugin_visit(void (*through)(void (*work)(void)), void (*work)(void));
void plugin_visit(void (*through)(void (*work)(void)), void (*work)(void))
{
    visits++;
    through(work);
    visits++;
}
