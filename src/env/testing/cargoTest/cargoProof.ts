/**
 * Linked into each test program (`-Wl,--wrap=main`): stands before the program's `main`, takes a secret out of the socket
 * that the launcher holds, and gives it back where `main` returned with 0. libtest's `main` returns so only when every test
 * that it was told to run has passed or is ignored; where one fails, it ends the process, as does code under test that
 * calls `exit` or dies. So a test has passed where a program that was told to run it gives the secret back, whatever is
 * printed.
 * Rust runs no code of a crate before `main`, but for functions put into a section of the program by name or in the place
 * of the C library's, which `restoreTests` does not let a change bring in.
 * Code under test shares the program's memory: what brings in `unsafe` is not graded either. Outside of Linux the linker has
 * no such flag: there an exit code of 0 has to do.
 */
export const cargoProof = String.raw`#![no_std]
#![crate_type = "lib"]
use core::ffi::{c_char, c_int, c_void};

extern "C" {
    fn __real_main(count: c_int, arguments: *const *const c_char) -> c_int;
    fn read(file: c_int, to: *mut c_void, size: usize) -> isize;
    fn write(file: c_int, from: *const c_void, size: usize) -> isize;
    fn fcntl(file: c_int, command: c_int, ...) -> c_int;
}

const CHANNEL: c_int = 3;
const SET_FLAGS: c_int = 2;
const CLOSE_ON_EXEC: c_int = 1;
static mut ENTERED: bool = false;

#[no_mangle]
pub unsafe extern "C" fn __wrap_main(count: c_int, arguments: *const *const c_char) -> c_int {
    // Code under test may call main again, with other arguments.
    if ENTERED {
        return __real_main(count, arguments);
    }
    ENTERED = true;
    let mut secret = [0u8; 32];
    let mut length = 0;
    // A program that a test starts is not given the socket.
    if fcntl(CHANNEL, SET_FLAGS, CLOSE_ON_EXEC) == 0 {
        while length < secret.len() {
            let size = read(CHANNEL, secret.as_mut_ptr().add(length).cast(), secret.len() - length);
            if size <= 0 {
                break;
            }
            length += size as usize;
        }
    }
    let code = __real_main(count, arguments);
    if code == 0 && length == secret.len() {
        write(CHANNEL, secret.as_ptr().cast(), length);
    }
    code
}
`;

/** In the place of rustc for the workspace's own crates: links what is built as a test program with the proof. */
export const rustcWrapper = String.raw`#!/bin/sh
for argument in "$@"; do
  if [ "$argument" = --test ]; then
    exec "$@" -C "link-arg=$WHETSTONE_PROOF" -C link-arg=-Wl,--wrap=main
  fi
done
exec "$@"
`;
