/* SPDX-License-Identifier: MIT */
/* All of its work is done by lib_constructor's constructor. */
int main(void)
{
    return 0;
}
