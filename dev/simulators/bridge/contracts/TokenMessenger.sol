// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.20;

import {IMessageHandler} from "./MessageTransmitter.sol";

interface IMintBurnToken {
    function mint(address to, uint256 value) external returns (bool);
    function burn(uint256 value) external;
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

interface IRelayer {
    function sendMessage(
        uint32 destinationDomain,
        bytes32 recipient,
        bytes32 destinationCaller,
        uint32 minFinalityThreshold,
        bytes calldata messageBody
    ) external;
}

/// The other chain's part of the lane, which its addresses tell before it is there.
struct Remote {
    uint32 domain;
    bytes32 messenger;
    bytes32 token;
}

/// Burns here for a mint on the other chain, and the other way round. The interface and the words
/// of refusals are those of TokenMessengerV2 and TokenMinterV2 of
/// github.com/circlefin/evm-cctp-contracts, for one token and one other chain; the code is our own.
contract TokenMessenger is IMessageHandler {
    uint32 public constant messageBodyVersion = 1;
    uint256 public constant MIN_FEE_MULTIPLIER = 10_000_000;
    uint32 private constant LEAST_FINALITY = 500;
    uint256 private constant LEAST_BODY = 228;

    address public immutable owner;
    address public immutable localMessageTransmitter;
    address public immutable localToken;
    address public immutable feeRecipient;
    uint32 public immutable remoteDomain;
    bytes32 private immutable remoteMessenger;
    bytes32 private immutable remoteToken;
    /// In thousandths of a basis point of what is burnt.
    uint256 public minFee;
    /// The most that one message may burn, by token; 0: a token that is not burnt here.
    mapping(address => uint256) public burnLimitsPerMessage;

    event DepositForBurn(
        address indexed burnToken,
        uint256 amount,
        address indexed depositor,
        bytes32 mintRecipient,
        uint32 destinationDomain,
        bytes32 destinationTokenMessenger,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 indexed minFinalityThreshold,
        bytes hookData
    );
    event MintAndWithdraw(
        address indexed mintRecipient, uint256 amount, address indexed mintToken, uint256 feeCollected
    );
    event MinFeeSet(uint256 minFee);

    struct Burn {
        uint256 amount;
        uint32 destinationDomain;
        bytes32 mintRecipient;
        address burnToken;
        bytes32 destinationCaller;
        uint256 maxFee;
        uint32 minFinalityThreshold;
    }

    constructor(address transmitter, address token, address collector, Remote memory remote) {
        owner = msg.sender;
        localMessageTransmitter = transmitter;
        localToken = token;
        feeRecipient = collector;
        remoteDomain = remote.domain;
        remoteMessenger = remote.messenger;
        remoteToken = remote.token;
        burnLimitsPerMessage[token] = type(uint256).max;
    }

    /// The minter is folded in.
    function localMinter() external view returns (address) {
        return address(this);
    }

    function getLocalToken(uint32 domain, bytes32 token) external view returns (address) {
        return domain == remoteDomain && token == remoteToken ? localToken : address(0);
    }

    function remoteTokenMessengers(uint32 domain) public view returns (bytes32) {
        return domain == remoteDomain ? remoteMessenger : bytes32(0);
    }

    function setMinFee(uint256 to) external {
        require(msg.sender == owner, "Caller is not the min fee controller");
        require(to < MIN_FEE_MULTIPLIER, "Min fee too high");
        minFee = to;
        emit MinFeeSet(to);
    }

    function setMaxBurnAmountPerMessage(address token, uint256 limit) external {
        require(msg.sender == owner, "Caller is not tokenController");
        burnLimitsPerMessage[token] = limit;
    }

    function getMinFeeAmount(uint256 amount) external view returns (uint256) {
        if (minFee == 0) return 0;
        require(amount > 1, "Amount too low");
        return _minFeeAmount(amount);
    }

    function depositForBurn(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold
    ) external {
        _burn(
            Burn(
                amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold
            ),
            ""
        );
    }

    function depositForBurnWithHook(
        uint256 amount,
        uint32 destinationDomain,
        bytes32 mintRecipient,
        address burnToken,
        bytes32 destinationCaller,
        uint256 maxFee,
        uint32 minFinalityThreshold,
        bytes calldata hookData
    ) external {
        require(hookData.length > 0, "Hook data is empty");
        _burn(
            Burn(
                amount, destinationDomain, mintRecipient, burnToken, destinationCaller, maxFee, minFinalityThreshold
            ),
            hookData
        );
    }

    function handleReceiveFinalizedMessage(uint32 domain, bytes32 sender, uint32, bytes calldata body)
        external
        returns (bool)
    {
        return _mint(domain, sender, body);
    }

    function handleReceiveUnfinalizedMessage(uint32 domain, bytes32 sender, uint32 executed, bytes calldata body)
        external
        returns (bool)
    {
        require(executed >= LEAST_FINALITY, "Unsupported finality threshold");
        return _mint(domain, sender, body);
    }

    function _minFeeAmount(uint256 amount) private view returns (uint256) {
        uint256 fee = (amount * minFee) / MIN_FEE_MULTIPLIER;
        return fee == 0 ? 1 : fee;
    }

    function _burn(Burn memory burn, bytes memory hookData) private {
        require(burn.amount > 0, "Amount must be nonzero");
        require(burn.mintRecipient != bytes32(0), "Mint recipient must be nonzero");
        require(burn.maxFee < burn.amount, "Max fee must be less than amount");
        if (minFee > 0) require(burn.maxFee >= _minFeeAmount(burn.amount), "Insufficient max fee");
        bytes32 messenger = remoteTokenMessengers(burn.destinationDomain);
        require(messenger != bytes32(0), "No TokenMessenger for domain");
        _take(burn);
        IRelayer(localMessageTransmitter).sendMessage(
            burn.destinationDomain,
            messenger,
            burn.destinationCaller,
            burn.minFinalityThreshold,
            _bodyOf(burn, hookData)
        );
        emit DepositForBurn(
            burn.burnToken,
            burn.amount,
            msg.sender,
            burn.mintRecipient,
            burn.destinationDomain,
            messenger,
            burn.destinationCaller,
            burn.maxFee,
            burn.minFinalityThreshold,
            hookData
        );
    }

    function _take(Burn memory burn) private {
        IMintBurnToken token = IMintBurnToken(burn.burnToken);
        uint256 limit = burnLimitsPerMessage[burn.burnToken];
        require(limit > 0, "Burn token not supported");
        require(burn.amount <= limit, "Burn amount exceeds per tx limit");
        require(token.transferFrom(msg.sender, address(this), burn.amount), "Transfer operation failed");
        token.burn(burn.amount);
    }

    function _bodyOf(Burn memory burn, bytes memory hookData) private view returns (bytes memory) {
        bytes32 token = bytes32(uint256(uint160(burn.burnToken)));
        bytes32 sender = bytes32(uint256(uint160(msg.sender)));
        // Fee executed and expiration block are the attester's to fill in.
        bytes memory terms = abi.encodePacked(burn.amount, sender, burn.maxFee, uint256(0), uint256(0));
        return bytes.concat(abi.encodePacked(messageBodyVersion, token, burn.mintRecipient), terms, hookData);
    }

    function _mint(uint32 domain, bytes32 sender, bytes calldata body) private returns (bool) {
        require(msg.sender == localMessageTransmitter, "Invalid message transmitter");
        require(
            sender != bytes32(0) && remoteTokenMessengers(domain) == sender, "Remote TokenMessenger unsupported"
        );
        require(body.length >= LEAST_BODY, "Invalid burn message: too short");
        require(uint32(bytes4(body[0:4])) == messageBodyVersion, "Invalid message body version");
        uint256 expiration = uint256(bytes32(body[196:228]));
        require(expiration == 0 || expiration > block.number, "Message expired and must be re-signed");
        uint256 amount = uint256(bytes32(body[68:100]));
        uint256 fee = uint256(bytes32(body[164:196]));
        require(fee == 0 || fee < amount, "Fee equals or exceeds amount");
        require(fee <= uint256(bytes32(body[132:164])), "Fee exceeds max fee");
        require(bytes32(body[4:36]) == remoteToken, "Mint token not supported");
        address recipient = address(uint160(uint256(bytes32(body[36:68]))));
        IMintBurnToken token = IMintBurnToken(localToken);
        require(token.mint(recipient, amount - fee), "First mint operation failed");
        if (fee > 0) require(token.mint(feeRecipient, fee), "Second mint operation failed");
        emit MintAndWithdraw(recipient, amount - fee, localToken, fee);
        return true;
    }
}
