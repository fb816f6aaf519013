#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Callers in code without CFI as Debian ships it: test_callers.py LIBRARY, of PROGRAMS below

Recorded at 999 Hz, at least 99 % of the stacks are complete. At 1000 and more PCs, in single steps from random stops on,
at most 0.1 % of the stacks have another caller than the call that was executed. Seen: in libcrypto's x25519_fe64_mul the
CFI is wrong at the `ret`, 2 of 70 000 stacks.
"""
import os
import re
import subprocess
import sys
import tempfile

REC, FOLLOW = os.environ["REC"], os.environ["FOLLOW_CALLERS"]
SKIPPED = 77
SECONDS = 40  # of steps for each program
ENOUGH_PCS = 20000
LEAST_PCS = 1000
MOST_WRONG_PERCENT = 0.1
LEAST_COMPLETE_PERCENT = 99
LEAST_SAMPLES = 200
RECORDED_S = 8
FFMPEG = ("ffmpeg", "-hide_banner", "-loglevel", "error", "-y")
VIDEO = ("-f", "lavfi", "-i", "testsrc2=duration=%d:size=320x240:rate=25")

GMP = """
#include <gmp.h>
#include <stdlib.h>
#include <time.h>
static void turn(mpz_t *n, unsigned long bits, unsigned long others)
{
    mpz_ui_pow_ui(n[0], 7, bits / 3);
    mpz_ui_pow_ui(n[1], 11, others / 4);
    mpz_ui_pow_ui(n[2], 13, others / 8);
    mpz_add_ui(n[2], n[2], 2);
    mpz_mul(n[3], n[0], n[1]);
    mpz_mul(n[4], n[3], n[3]);
    mpz_mod(n[4], n[4], n[2]);
    mpz_powm_ui(n[4], n[4], 17, n[2]);
    mpz_tdiv_qr(n[3], n[4], n[3], n[2]);
    mpz_gcdext(n[3], n[4], n[5], n[0], n[1]);
    mpz_invert(n[3], n[1], n[2]);
    mpz_sqrtrem(n[3], n[4], n[0]);
    mpz_root(n[3], n[0], 3);
    mpz_divexact_ui(n[3], n[0], 7);
    mpz_fac_ui(n[3], bits / 40);
    mpz_fib_ui(n[4], others);
    mpz_bin_uiui(n[5], bits / 9, bits / 20);
    mpz_xor(n[3], n[3], n[4]);
    mpz_mul_2exp(n[3], n[3], others % 67);
    mpz_setbit(n[3], mpz_popcount(n[3]) + mpz_hamdist(n[3], n[4]) % 100);
    mpz_jacobi(n[4], n[2]);
    if (bits < 3000)
        mpz_probab_prime_p(n[2], 2);
    char *digits = mpz_get_str(NULL, 10, n[0]);
    mpz_set_str(n[3], digits, 10);
    free(digits);
}
int main(void)
{
    mpz_t n[6];
    for (int i = 0; i < 6; i++)
        mpz_init(n[i]);
    for (unsigned long i = 0; clock() < 60 * CLOCKS_PER_SEC; i++)
        turn(n, 300ul << i % 9, 200ul << i % 7);
}
"""
SODIUM = """
#include <sodium.h>
#include <time.h>
static unsigned char m[4096], c[4200], k[64], n[24], h[64], pk[32], sk[64], q[32], s[16];
static unsigned long long size;
static void ciphers(unsigned long long bytes)
{
    crypto_aead_xchacha20poly1305_ietf_encrypt(c, &size, m, bytes, 0, 0, 0, n, k);
    if (crypto_aead_aes256gcm_is_available())
        crypto_aead_aes256gcm_encrypt(c, &size, m, bytes, 0, 0, 0, n, k);
    crypto_secretbox_easy(c, m, bytes, n, k);
    crypto_stream_salsa2012_xor(c, m, bytes, n, k);
    crypto_stream_chacha20_xor(c, m, bytes, n, k);
    crypto_onetimeauth(h, m, bytes, k);
}
static void hashes(unsigned long long bytes)
{
    crypto_generichash(h, sizeof(h), m, bytes, 0, 0);
    crypto_hash_sha512(h, m, bytes);
    crypto_hash_sha256(h, m, bytes);
    crypto_shorthash(h, m, bytes, k);
    crypto_shorthash_siphashx24(h, m, bytes, k);
    crypto_auth(h, m, bytes, k);
    crypto_kdf_derive_from_key(h, 32, bytes, "contexts", k);
}
static void curves(unsigned long long bytes)
{
    crypto_scalarmult_base(q, k);
    (void)!crypto_scalarmult(h, k, q);
    crypto_sign_keypair(pk, sk);
    crypto_sign_detached(h, &size, m, bytes, sk);
    (void)!crypto_sign_verify_detached(h, m, bytes, pk);
    crypto_core_ed25519_from_uniform(q, k);
    crypto_core_ristretto255_from_hash(q, k);
    crypto_box_keypair(pk, sk);
    (void)!crypto_box_easy(c, m, bytes, n, pk, sk);
}
int main(void)
{
    if (sodium_init() < 0)
        return 1;
    for (unsigned turn = 0; clock() < 60 * CLOCKS_PER_SEC; turn++) {
        for (int i = 0; i < 4; i++) {
            ciphers(1 + turn * 61 % 4000);
            hashes(1 + turn * 37 % 4000);
        }
        curves(1 + turn % 700);
        if (turn % 8 == 0)
            (void)!crypto_pwhash(h, 32, "word", 4, s, 1 + turn % 3, 1 << 14, crypto_pwhash_ALG_ARGON2ID13);
        k[turn % sizeof(k)] ^= h[turn % sizeof(h)];
        n[turn % sizeof(n)]++;
    }
}
"""
OPENBLAS = """
#include <cblas.h>
#include <time.h>
enum { N = 32 };
static double a[N * N], b[N * N], c[N * N], x[N], y[N];
static float f[N * N], g[N * N];
int main(void)
{
    for (int i = 0; i < N * N; i++)
        a[i] = b[i] = f[i] = 1.0 / (i + 1);
    while (clock() < 60 * CLOCKS_PER_SEC) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, N, N, 1, a, N, b, N, 0, c, N);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, f, N, f, N, 0, g, N);
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasUnit, N, N, 1, a, N, c, N);
        for (int i = 0; i < 20; i++) {
            cblas_dgemv(CblasRowMajor, CblasTrans, N, N, 1, a, N, b, 1, 0, y, 1);
            cblas_dger(CblasRowMajor, N, N, cblas_ddot(N, b, 1, y, 1) * 1e-9, x, 1, y, 1, c, N);
            cblas_daxpy(N * N, 1e-9, b, 1, c, 1);
            cblas_dscal(N * N, 0.999, c, 1);
        }
    }
}
"""
JPEG = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jpeglib.h>
#include <time.h>
enum { SIDE = 128 };
static unsigned char pixels[SIDE][SIDE * 3], *row[1] = {pixels[0]}, *bytes;
static unsigned long size;
static void compress(int method, int sampling)
{
    struct jpeg_error_mgr errors;
    struct jpeg_compress_struct c = {.err = jpeg_std_error(&errors)};
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, &size);
    c.image_width = c.image_height = SIDE;
    c.input_components = 3;
    c.in_color_space = JCS_RGB;
    jpeg_set_defaults(&c);
    c.dct_method = method;
    c.comp_info[0].h_samp_factor = sampling;
    c.comp_info[0].v_samp_factor = sampling / 2 + sampling % 2;
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < SIDE) {
        row[0] = pixels[c.next_scanline];
        jpeg_write_scanlines(&c, row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
}
static void decompress(int method, int scale, int is_smooth)
{
    struct jpeg_error_mgr errors;
    struct jpeg_decompress_struct d = {.err = jpeg_std_error(&errors)};
    jpeg_create_decompress(&d);
    jpeg_mem_src(&d, bytes, size);
    jpeg_read_header(&d, TRUE);
    d.dct_method = method;
    d.scale_denom = scale;
    d.do_fancy_upsampling = is_smooth;
    jpeg_start_decompress(&d);
    while (d.output_scanline < d.output_height) {
        row[0] = pixels[d.output_scanline];
        jpeg_read_scanlines(&d, row, 1);
    }
    jpeg_finish_decompress(&d);
    jpeg_destroy_decompress(&d);
}
int main(void)
{
    for (unsigned i = 0; i < SIDE; i++)
        for (unsigned k = 0; k < SIDE * 3; k++)
            pixels[i][k] = (unsigned char)(i * k / 77);
    for (unsigned turn = 0; clock() < 60 * CLOCKS_PER_SEC; turn++) {
        free(bytes);
        bytes = NULL;
        size = 0;
        compress(turn % 3, 1 + turn % 2);
        decompress(turn % 3, 1 << turn % 4, turn / 2 % 2);
    }
}
"""
ISAL = """
#include <isa-l.h>
#include <time.h>
enum { BYTES = 1 << 12, SOURCES = 6, CODED = 3 };
static unsigned char text[BYTES], packed[2 * BYTES], level[ISAL_DEF_LVL3_DEFAULT];
static unsigned char blocks[SOURCES + CODED][BYTES] __attribute__((aligned(64)));
static unsigned char matrix[(SOURCES + CODED) * SOURCES], tables[32 * SOURCES * CODED];
static void deflate(unsigned turn, unsigned bytes)
{
    struct isal_zstream out;
    struct inflate_state in;
    isal_deflate_stateless_init(&out);
    out.next_in = text;
    out.next_out = packed;
    out.avail_in = bytes;
    out.avail_out = sizeof(packed);
    out.level = turn % 4;
    out.level_buf = level;
    out.level_buf_size = sizeof(level);
    out.gzip_flag = turn / 4 % 2 ? IGZIP_GZIP : IGZIP_DEFLATE;
    isal_deflate_stateless(&out);
    isal_inflate_init(&in);
    in.next_in = packed;
    in.next_out = text;
    in.avail_in = (unsigned)(out.next_out - packed);
    in.avail_out = bytes;
    in.crc_flag = turn / 4 % 2 ? ISAL_GZIP : ISAL_DEFLATE;
    isal_inflate(&in);
}
static void erasure(int sources, int coded, int bytes)
{
    void *all[SOURCES + CODED];
    unsigned char *data[SOURCES], *codes[CODED];
    for (int i = 0; i < SOURCES + CODED; i++)
        all[i] = blocks[i];
    for (int i = 0; i < sources; i++)
        data[i] = blocks[i];
    for (int i = 0; i < coded; i++)
        codes[i] = blocks[SOURCES + i];
    gf_gen_cauchy1_matrix(matrix, sources + coded, sources);
    ec_init_tables(sources, coded, matrix + sources * sources, tables);
    ec_encode_data(bytes, sources, coded, tables, data, codes);
    ec_encode_data_update(bytes, sources, coded, 1, tables, data[1], codes);
    gf_vect_dot_prod(bytes, sources, tables, data, codes[0]);
    xor_gen(sources + 1, bytes & -32, all);
    xor_check(sources + 1, bytes & -32, all);
    pq_gen(sources + 2, bytes & -32, all);
    pq_check(sources + 2, bytes & -32, all);
}
int main(void)
{
    for (unsigned i = 0; i < BYTES; i++)
        text[i] = (unsigned char)(i * i / 3131);
    for (unsigned turn = 0; clock() < 60 * CLOCKS_PER_SEC; turn++) {
        const unsigned bytes = 64 + turn * 97 % (BYTES / 8);
        deflate(turn, bytes);
        erasure(2 + (int)(turn % (SOURCES - 1)), 1 + (int)(turn % CODED), (int)bytes);
        const uint64_t sums = crc64_ecma_refl(turn, text, bytes) ^ crc64_ecma_norm(turn, text, bytes) ^
                              crc64_iso_refl(turn, text, bytes) ^ crc64_iso_norm(turn, text, bytes) ^
                              crc64_jones_refl(turn, text, bytes) ^ crc64_jones_norm(turn, text, bytes);
        text[turn % bytes] ^= (unsigned char)(sums ^ crc32_gzip_refl(turn, text, bytes) ^
                                              crc32_iscsi(text, (int)bytes, turn) ^
                                              crc16_t10dif((uint16_t)turn, text, bytes) ^
                                              isal_adler32(turn, text, bytes) ^ crc32_ieee(turn, text, bytes));
    }
}
"""
ASH = 'i=0; while [ $i -lt 15000000 ]; do i=$((i+1)); x="${i#1}$x"; case $x in 5*) x=;; esac; done'


def compiled(text, library, place):
    path = os.path.join(place, library)
    subprocess.run(["gcc", "-O2", "-x", "c", "-", "-o", path, "-l" + library], input=text, text=True, check=True,
                   timeout=60)
    return [path]


def random_file(place):
    path = os.path.join(place, "input")
    with open(path, "wb") as file:
        file.write(os.urandom(8 << 20))
    return path


def x264(_):
    source = [part % 300 if "%d" in part else part for part in VIDEO]
    for preset in ("fast", "slow"):
        yield [*FFMPEG, "-threads", "1", "-filter_threads", "1", *source, "-threads", "1", "-c:v", "libx264",
               "-preset", preset, "-f", "null", "-"]


def dav1d(place):
    path = os.path.join(place, "video.ivf")
    source = [part % 8 if "%d" in part else part for part in VIDEO]
    subprocess.run([*FFMPEG, *source, "-c:v", "libaom-av1", "-cpu-used", "8", "-crf", "40", path], check=True,
                   timeout=120)
    yield [*FFMPEG, "-threads", "1", "-stream_loop", "100", "-c:v", "libdav1d", "-i", path, "-f", "null", "-"]


def libcrypto(_):
    for cipher in ("aes-128-gcm", "chacha20-poly1305", "sha256", "sha512"):
        yield ["openssl", "speed", "-seconds", "9", "-evp", cipher]
    for key in ("rsa2048", "ecdsap256", "ecdhx25519"):
        yield ["openssl", "speed", "-seconds", "9", key]


def gmp(place):
    yield compiled(GMP, "gmp", place)


def libsodium(place):
    yield compiled(SODIUM, "sodium", place)


def libjpeg(place):
    yield compiled(JPEG, "jpeg", place)


def libisal(place):
    yield compiled(ISAL, "isal", place)


def busybox(place):
    path = random_file(place)
    yield ["busybox", "ash", "-c", ASH]
    yield ["busybox", "gzip", "-c", *[path] * 40]
    yield ["busybox", "sha256sum", *[path] * 60]


def openblas(place):
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    for core in ("Haswell", "Nehalem", "Barcelona"):  # their kernels are written by hand
        os.environ["OPENBLAS_CORETYPE"] = core
        yield compiled(OPENBLAS, "openblas", place)


PROGRAMS = {"x264": (x264, "libx264"), "dav1d": (dav1d, "libdav1d"), "libcrypto": (libcrypto, "libcrypto"),
            "gmp": (gmp, "libgmp"), "libsodium": (libsodium, "libsodium"),
            "libjpeg": (libjpeg, "libjpeg"), "libisal": (libisal, "libisal"), "busybox": (busybox, "busybox"),
            "openblas": (openblas, "libopenblas")}


def completeness(command, place):
    """The percentage of complete stacks at 999 Hz."""
    capture = os.path.join(place, "rec.data")
    subprocess.run([REC, "-q", "-F", "999", "-o", capture, "--", "timeout", str(RECORDED_S), *command], cwd=place,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60, check=False)
    text = subprocess.run([REC, "info", capture], capture_output=True, text=True, check=True, timeout=60).stdout
    samples, complete = (int(re.search(rf"^ +{name} +(\d+)", text, re.MULTILINE)[1])
                         for name in ("samples", "complete"))
    if samples < LEAST_SAMPLES:
        sys.exit(f"{samples} samples prove nothing")
    return 100 * complete / samples


def followed(command, mapped):
    """The counts of follow_callers; differences are printed."""
    done = subprocess.run([FOLLOW, mapped, str(SECONDS), str(ENOUGH_PCS), *command], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False, timeout=SECONDS + 120)
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode == SKIPPED:
        print("ptrace is not permitted here")
        sys.exit(SKIPPED)
    counts = [line[line.index("stops "):] for line in lines if "stops " in line]
    if not counts:
        sys.exit(f"follow_callers ended with {done.returncode}: {lines[-1:]}")
    print("\n".join(line for line in lines if re.match(r"(rows|launcher|incomplete)\b.*: found", line)), counts[-1])
    words = counts[-1].split()
    return dict(zip(words[::2], map(int, words[1::2])))


def main():
    programs, mapped = PROGRAMS[sys.argv[1]]
    pcs = stacks = wrong = 0
    with tempfile.TemporaryDirectory() as place:
        for command in programs(place):
            complete = completeness(command, place)
            print(f"{command[:8]}: {complete:.2f} % complete")
            if complete < LEAST_COMPLETE_PERCENT:
                sys.exit("incomplete stacks")
            counts = followed([subprocess.check_output(["which", command[0]], text=True).strip(), *command[1:]], mapped)
            pcs += counts["pcs"]
            stacks += counts["stacks"]
            wrong += counts["wrong_by_rows"] + counts["wrong_by_launcher"]
    print(f"{pcs} PCs, {stacks} stacks, {wrong} with another caller")
    if pcs < LEAST_PCS or wrong * 100 > stacks * MOST_WRONG_PERCENT:
        sys.exit("too few PCs, or too many wrong callers")


if __name__ == "__main__":
    main()
