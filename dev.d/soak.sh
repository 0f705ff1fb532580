# The model of the contract against Python, PHP and C, for long: ./dev soak [--seconds N]
# Sourced by ../dev. The last line is for machines: soak: steps=N seconds=N differences=0

soak() {
    setup
    setup_tools
    # What c_inputs does not know: the driver in C. Nothing is done when it is up to date.
    cmake --build build/cmake --target model_driver >build/log/model-driver.log ||
        { cat build/log/model-driver.log >&2; exit 1; }
    use_build
    python tests/model/soak.py "$@"
}
