# How long the code of each room is: ./dev sizes. Sourced by ../dev.

sizes() {
    system_python dev.d/sizes.py
}
